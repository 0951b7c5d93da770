"""What models see: values of relations as features, generalized and original ones in one space."""
