"""Features of models: values of relations, generalized and original ones in one space."""
