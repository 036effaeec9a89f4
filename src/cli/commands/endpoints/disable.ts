import { actCommand } from '../../operate/act-command.ts'

/** `upshot endpoints disable <name>`: refuses its deliveries with 401, as if it did not exist. */
export const define = actCommand('PATCH /endpoints/:name', {
  argument: ['name', 'name of the endpoint'],
  look: 'GET /endpoints/:name',
  body: () => ({ status: 'disabled' }),
  will: (name) => `disable the endpoint "${name}"`,
  done: (_, name, before) =>
    before?.status === 'disabled'
      ? `Endpoint "${name}" was already disabled.`
      : `Endpoint "${name}" is now disabled: its deliveries are refused with 401.`,
  note: (_, name) => `The sender may give up on refused deliveries. Enable it with "upshot endpoints enable ${name}".`,
})
