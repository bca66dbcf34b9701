"""Text backends: drivers of the group kb.text, exactly one per fleet."""
