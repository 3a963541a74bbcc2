"""Tables of this capability, a module each."""
