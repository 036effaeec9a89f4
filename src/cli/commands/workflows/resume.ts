import { actCommand } from '../../operate/act-command.ts'

/** `upshot workflows resume <id>`: releases its held runs, oldest first. */
export const define = actCommand('POST /workflows/:id/resume', {
  argument: ['id', 'id of the workflow'],
  look: 'GET /workflows/:id',
  will: (id, found) => `resume the workflow ${id} and its ${found?.held ?? 0} held runs`,
  done({ id }, _, before) {
    const { pausedAt, held } = before ?? { pausedAt: null, held: 0 }
    return `The workflow ${id} ${pausedAt === null ? 'was not paused' : 'is resumed'}; ${held} held runs were released.`
  },
})
