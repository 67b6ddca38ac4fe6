"""Order candidate programs by how likely they are right, and predict how the others fail."""
