import {killedAtRandom} from './kill-at-random.ts';

// With crash-random-2.test.ts, 100 kills in all; two files, so that they run side by side.
killedAtRandom(20261111, 25);
