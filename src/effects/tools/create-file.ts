import {placeOf} from '../workspace/place.ts';
import {replaceFile} from '../workspace/replace-file.ts';
import {isFailure} from './failure.ts';
import {newFile} from './preview.ts';
import type {Tool} from './tool.ts';

export const createFile: Tool<'create_file'> = {
  execute: async ({path, content}, context) => {
    const place = placeOf(path, 'write', context.workspace);
    if (isFailure(place)) return place;
    const written = await replaceFile(context, place, content, 'nothing');
    return isFailure(written) ? written : {success: true, path: place.path, bytes: written.bytes};
  },
  preview: ({path, content}) => newFile(path, content),
};
