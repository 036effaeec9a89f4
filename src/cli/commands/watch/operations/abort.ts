import { actCommand } from '../../../operate/act-command.ts'

/** `upshot operations abort <id>`: ends it after its present slice; what is done stays done. */
export const define = actCommand('POST /operations/:id/abort', {
  argument: ['id', 'id of the operation, opr_…, or its beginning'],
  look: 'GET /operations/:id',
  will: (id) => `abort the operation ${id}`,
  done: ({ done }) => `Aborted after ${done}; what is done stays done.`,
})
