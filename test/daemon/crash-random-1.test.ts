import {killedAtRandom} from './kill-at-random.ts';

// With crash-random-2.test.ts, 40 kills in all; simulation tries thousands; two files, so that they run side by side.
killedAtRandom(20261111, 10);
