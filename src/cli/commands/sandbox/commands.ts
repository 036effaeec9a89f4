import { type CommandTree, command } from '../../command.ts'

/** The commands of `upshot sandbox`. */
export const SANDBOX_COMMANDS: CommandTree = {
  start: command(
    'run the sandbox without an app, and print its addresses and a new API key',
    () => import('./start.ts'),
  ),
  status: command('show the addresses, settings and content of the sandbox', () => import('./status.ts')),
  reset: command('reset the sandbox to its first start', () => import('./reset.ts')),
  settings: command('show or change the settings of the sandbox', () => import('./settings.ts')),
  key: {
    summary: 'create, list and revoke API keys',
    commands: {
      new: command('create an API key and print it', () => import('./key/new.ts')),
      list: command('list the API keys, without their values', () => import('./key/list.ts')),
      revoke: command('revoke an API key', () => import('./key/revoke.ts')),
    },
  },
  webhook: {
    summary: 'register, list and remove webhooks',
    commands: {
      add: command('register a webhook', () => import('./webhook/add.ts')),
      list: command('list the webhooks', () => import('./webhook/list.ts')),
      remove: command('remove a webhook', () => import('./webhook/remove.ts')),
    },
  },
  storage: {
    summary: 'put, list and delete files in the storages, as another user would',
    commands: {
      put: command('copy a local file into a storage', () => import('./storage/put.ts')),
      ls: command('list the entries of a folder', () => import('./storage/ls.ts')),
      rm: command('delete a file, or a folder with everything in it', () => import('./storage/rm.ts')),
    },
  },
  transfer: {
    summary: 'start, list and cancel transfers between storages',
    commands: {
      start: command('transfer a file or folder, or let the transfer fail', () => import('./transfer/start.ts')),
      list: command('list the newest transfers', () => import('./transfer/list.ts')),
      cancel: command('cancel a running transfer', () => import('./transfer/cancel.ts')),
    },
  },
  deliveries: {
    summary: 'list, resend and backfill deliveries to webhooks',
    commands: {
      list: command('list the newest deliveries with their attempts', () => import('./deliveries/list.ts')),
      resend: command('send an event again', () => import('./deliveries/resend.ts')),
      backfill: command('send a webhook every event that it missed', () => import('./deliveries/backfill.ts')),
    },
  },
  fault: {
    summary: 'inject, list and clear faults',
    commands: {
      add: command('add a fault', () => import('./fault/add.ts')),
      list: command('list the faults and how often they occurred', () => import('./fault/list.ts')),
      clear: command('remove one fault, or all', () => import('./fault/clear.ts')),
    },
  },
  clock: {
    summary: 'show, advance or reset the clock of the sandbox',
    commands: {
      show: command('show the time in the sandbox', () => import('./clock/show.ts')),
      advance: command('advance the clock and do everything that falls due', () => import('./clock/advance.ts')),
      real: command("set the clock to this machine's time and let it run", () => import('./clock/real.ts')),
    },
  },
  probe: command('send a receiver valid and invalid deliveries, and check its answers', () => import('./probe.ts')),
  audit: command('list the mistakes of clients, or their requests', () => import('./audit.ts')),
  snapshot: {
    summary: 'save, load and list snapshots of the sandbox',
    commands: {
      save: command('save the current state as a snapshot', () => import('./snapshot/save.ts')),
      load: command('restore a snapshot', () => import('./snapshot/load.ts')),
      list: command('list the snapshots', () => import('./snapshot/list.ts')),
    },
  },
}
