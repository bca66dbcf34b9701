"""The knowledge lifecycle: what an episode of work recorded becomes candidate records, and a person promotes them."""
