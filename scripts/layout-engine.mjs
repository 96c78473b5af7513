// What the bundle has in place of yoga-layout, whose own entry waits for its engine while it loads.
import {loadYoga} from 'yoga-layout/load';

const yoga = {};
const loaded = loadYoga().then(engine => {
  Object.assign(yoga, engine);
});

export default yoga;
export const whenLaidOut = () => loaded;
