import {readPlace} from '../workspace/open-file.ts';
import {placeOf} from '../workspace/place.ts';
import {MOST_WRITTEN, replaceFile} from '../workspace/replace-file.ts';
import {isFailure} from './failure.ts';
import {changedFile, newFile} from './preview.ts';
import type {Tool} from './tool.ts';

export const writeFile: Tool<'write_file'> = {
  execute: async ({path, content}, context) => {
    const place = placeOf(path, 'write', context.workspace);
    if (isFailure(place)) return place;
    const written = await replaceFile(context, place, content, 'anything');
    return isFailure(written) ? written : {success: true, path: place.path, ...written};
  },
  preview: async ({path, content}, context) => {
    const place = placeOf(path, 'write', context.workspace);
    if (isFailure(place)) return place.error;
    const file = await readPlace(context, place, MOST_WRITTEN);
    if (isFailure(file)) return `${file.error}\n${newFile(place.path, content)}`;
    return changedFile(place.path, file.bytes.toString(), content, context.redact);
  },
};
