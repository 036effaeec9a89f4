import { actCommand } from '../../operate/act-command.ts'

/** `upshot workflows remove <id>`: its events start no run any more; its runs are kept. */
export const define = actCommand('DELETE /workflows/:id', {
  argument: ['id', 'id of a workflow whose module is gone'],
  look: 'GET /workflows/:id',
  will: (id) => `remove the workflow ${id}`,
  asks: () => ['its events start no run from now on', 'its runs are kept; unfinished ones wait for its module'],
  data: (_, id) => ({ workflow: id, removed: true }),
  done: (_, id) => `Removed the workflow ${id}.`,
})
