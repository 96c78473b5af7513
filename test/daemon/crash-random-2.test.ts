import {killedAtRandom} from './kill-at-random.ts';

// With crash-random-1.test.ts, 100 kills in all; two files, so that they run side by side.
killedAtRandom(20261112, 25);
