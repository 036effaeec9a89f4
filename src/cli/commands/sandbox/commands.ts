import { type CommandTree, command, commandsOf } from '../../command.ts'

/** The commands of `upshot sandbox`. */
export const SANDBOX_COMMANDS: CommandTree = {
  start: command(
    'run the sandbox without an app, and print its addresses and a new API key',
    () => import('./start.ts'),
  ),
  ...commandsOf(() => import('./whole.ts'), {
    status: 'show the addresses, settings and content of the sandbox',
    reset: 'reset the sandbox to its first start',
    settings: 'show or change the settings of the sandbox',
    probe: 'send a receiver valid and invalid deliveries, and check its answers',
    audit: 'list the mistakes of clients, or their requests',
  }),
  key: {
    summary: 'create, list and revoke API keys',
    commands: commandsOf(() => import('./key.ts'), {
      new: 'create an API key and print it',
      list: 'list the API keys, without their values',
      revoke: 'revoke an API key',
    }),
  },
  webhook: {
    summary: 'register, list and remove webhooks',
    commands: commandsOf(() => import('./webhook.ts'), {
      add: 'register a webhook',
      list: 'list the webhooks',
      remove: 'remove a webhook',
    }),
  },
  storage: {
    summary: 'put, list and delete files in the storages, as another user would',
    commands: commandsOf(() => import('./storage.ts'), {
      put: 'copy a local file into a storage',
      ls: 'list the entries of a folder',
      rm: 'delete a file, or a folder with everything in it',
    }),
  },
  transfer: {
    summary: 'start, list and cancel transfers between storages',
    commands: commandsOf(() => import('./transfer.ts'), {
      start: 'transfer a file or folder, or let the transfer fail',
      list: 'list the newest transfers',
      cancel: 'cancel a running transfer',
    }),
  },
  deliveries: {
    summary: 'list, resend and backfill deliveries to webhooks',
    commands: commandsOf(() => import('./deliveries.ts'), {
      list: 'list the newest deliveries with their attempts',
      resend: 'send an event again',
      backfill: 'send a webhook every event that it missed',
    }),
  },
  fault: {
    summary: 'inject, list and clear faults',
    commands: commandsOf(() => import('./fault.ts'), {
      add: 'add a fault',
      list: 'list the faults and how often they occurred',
      clear: 'remove one fault, or all',
    }),
  },
  clock: {
    summary: 'show, advance or reset the clock of the sandbox',
    commands: commandsOf(() => import('./clock.ts'), {
      show: 'show the time in the sandbox',
      advance: 'advance the clock and do everything that falls due',
      real: "set the clock to this machine's time and let it run",
    }),
  },
  snapshot: {
    summary: 'save, load and list snapshots of the sandbox',
    commands: commandsOf(() => import('./snapshot.ts'), {
      save: 'save the current state as a snapshot',
      load: 'restore a snapshot',
      list: 'list the snapshots',
    }),
  },
}
