// Nothing but the precompiled header of its target.
