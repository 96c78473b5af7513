import fc from 'fast-check';
import {measureFile} from './cpu-of-files.ts';

// The gate tries the same cases every time; FUZZ=1 (or more) tries new ones, to look for what nobody thought of.
if (!process.env.FUZZ) fc.configureGlobal({seed: 20261116});

measureFile();
