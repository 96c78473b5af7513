import {isFailure} from '../tool/failure.ts';
import type {Tool} from '../tool/tool.ts';
import {readPlace} from '../workspace/open-file.ts';
import {parseToolPath} from '../workspace/place.ts';
import {MAX_WRITTEN, replaceFile, wouldReplace} from '../workspace/replace-file.ts';
import {fileDigest, unreadDigest} from './basis.ts';
import {diffOf} from './diff-of.ts';

export const writeFileTool: Tool<'write_file'> = {
  execute: async ({path, content}, context) => {
    const place = parseToolPath(path, 'write', context.workspace);
    if (isFailure(place)) return place;
    const written = await replaceFile(context, place, content, 'anything');
    return isFailure(written) ? written : {success: true, path: place.path, ...written};
  },
  ask: async ({path, content}, context) => {
    const place = parseToolPath(path, 'write', context.workspace);
    if (isFailure(place)) return place;
    const target = wouldReplace(context, place, content, 'anything');
    if (isFailure(target)) return target;
    const {stat} = target;
    const large = stat && stat.size > MAX_WRITTEN;
    const file = stat && !large ? await readPlace(context, place, MAX_WRITTEN) : undefined;
    if (isFailure(file)) return file;
    return {
      title: `write file: ${place.path}`,
      parts: [
        {label: 'Path', text: place.path},
        {
          label: 'Diff',
          text: diffOf(place.path, large ? stat.size : file?.bytes, content, context.redact),
          language: 'diff',
        },
        {label: 'Content', text: content},
      ],
      edits: {argument: 'content', label: 'Content'},
      basis: {file: large ? unreadDigest(stat) : file ? fileDigest(file.bytes) : 'none'},
    };
  },
};

export const createFileTool: Tool<'create_file'> = {
  execute: async ({path, content}, context) => {
    const place = parseToolPath(path, 'write', context.workspace);
    if (isFailure(place)) return place;
    const written = await replaceFile(context, place, content, 'nothing');
    return isFailure(written) ? written : {success: true, path: place.path, bytes: written.bytes};
  },
  ask: ({path, content}, context) => {
    const place = parseToolPath(path, 'write', context.workspace);
    if (isFailure(place)) return place;
    const target = wouldReplace(context, place, content, 'nothing');
    if (isFailure(target)) return target;
    return {
      title: `new file: ${place.path}`,
      parts: [
        {label: 'Path', text: place.path},
        {label: 'Diff', text: diffOf(place.path, undefined, content, context.redact), language: 'diff'},
        {label: 'Content', text: content},
      ],
      edits: {argument: 'content', label: 'Content'},
      basis: {file: 'none'},
    };
  },
};
