import { actCommand } from '../../operate/act-command.ts'

/** `upshot workflows pause <id>`: holds its runs until it is resumed. */
export const define = actCommand('POST /workflows/:id/pause', {
  argument: ['id', 'id of the workflow'],
  help: 'A run in progress continues until it ends or waits. Events and ticks are still recorded.',
  look: 'GET /workflows/:id',
  will: (id) => `pause the workflow ${id}`,
  done: ({ id, held }, _, before) =>
    `The workflow ${id} ${before?.pausedAt === null ? 'is now' : 'was already'} paused; ${held} of its runs are held.`,
  note: ({ id }) => `Resume it with "upshot workflows resume ${id}".`,
})
