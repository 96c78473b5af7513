import {isFailure} from '../tool/failure.ts';
import type {Tool} from '../tool/tool.ts';
import {closeFolder, openFolder, openIfThere} from '../workspace/folder.ts';
import {parseToolPath} from '../workspace/place.ts';

export const createDirectoryTool: Tool<'create_directory'> = {
  execute: ({path}, context) => {
    const place = parseToolPath(path, 'make folder', context.workspace);
    if (isFailure(place)) return place;
    const there = openFolder(context, place);
    const folder = isFailure(there) ? openFolder(context, place, place.parts, {make: true}) : there;
    if (isFailure(folder)) return folder;
    closeFolder(folder);
    return {success: true, path: place.path, created: folder !== there};
  },
  ask: ({path}, context) => {
    const place = parseToolPath(path, 'make folder', context.workspace);
    if (isFailure(place)) return place;
    const there = openIfThere(context, place);
    if (isFailure(there)) return there;
    if (there) closeFolder(there);
    return {title: `folder: ${place.path}`, parts: [{label: 'Folder', text: place.path}]};
  },
};
