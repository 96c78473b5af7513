import {killedAtRandom} from './kill-at-random.ts';

// Simulation tries thousands of moments; these are for what it has not: real git, processes and files. FUZZ=N tries N times as many.
killedAtRandom(20261111, 6);
