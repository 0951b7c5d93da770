"""From released rows back to a group of people, as the policy of the spec allows."""
