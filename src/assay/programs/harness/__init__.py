"""What runs inside the cage, standard library only: the program on one side, its tests on the other."""
