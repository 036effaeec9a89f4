import type { CommandTree } from '../../command.ts'

/** The commands of `upshot sandbox`. */
export const SANDBOX_COMMANDS: CommandTree = {
  start: {
    summary: 'run the sandbox without an app, and print its addresses and a new API key',
    load: () => import('./start.ts'),
  },
  status: {
    summary: 'show the addresses, settings and content of the sandbox',
    load: () => import('./status.ts'),
  },
  reset: {
    summary: 'reset the sandbox to its first start',
    load: () => import('./reset.ts'),
  },
  settings: {
    summary: 'show or change the settings of the sandbox',
    load: () => import('./settings.ts'),
  },
  key: {
    summary: 'create, list and revoke API keys',
    commands: {
      new: { summary: 'create an API key and print it', load: () => import('./key/new.ts') },
      list: { summary: 'list the API keys, without their values', load: () => import('./key/list.ts') },
      revoke: { summary: 'revoke an API key', load: () => import('./key/revoke.ts') },
    },
  },
  webhook: {
    summary: 'register, list and remove webhooks',
    commands: {
      add: { summary: 'register a webhook', load: () => import('./webhook/add.ts') },
      list: { summary: 'list the webhooks', load: () => import('./webhook/list.ts') },
      remove: { summary: 'remove a webhook', load: () => import('./webhook/remove.ts') },
    },
  },
  storage: {
    summary: 'put, list and delete files in the storages, as another user would',
    commands: {
      put: {
        summary: 'copy a local file into a storage',
        load: () => import('./storage/put.ts'),
      },
      ls: { summary: 'list the entries of a folder', load: () => import('./storage/ls.ts') },
      rm: {
        summary: 'delete a file, or a folder with everything in it',
        load: () => import('./storage/rm.ts'),
      },
    },
  },
  transfer: {
    summary: 'start, list and cancel transfers between storages',
    commands: {
      start: {
        summary: 'transfer a file or folder, or let the transfer fail',
        load: () => import('./transfer/start.ts'),
      },
      list: { summary: 'list the newest transfers', load: () => import('./transfer/list.ts') },
      cancel: { summary: 'cancel a running transfer', load: () => import('./transfer/cancel.ts') },
    },
  },
  deliveries: {
    summary: 'list, resend and backfill deliveries to webhooks',
    commands: {
      list: { summary: 'list the newest deliveries with their attempts', load: () => import('./deliveries/list.ts') },
      resend: { summary: 'send an event again', load: () => import('./deliveries/resend.ts') },
      backfill: {
        summary: 'send a webhook every event that it missed',
        load: () => import('./deliveries/backfill.ts'),
      },
    },
  },
  fault: {
    summary: 'inject, list and clear faults',
    commands: {
      add: { summary: 'add a fault', load: () => import('./fault/add.ts') },
      list: { summary: 'list the faults and how often they occurred', load: () => import('./fault/list.ts') },
      clear: {
        summary: 'remove one fault, or all',
        load: () => import('./fault/clear.ts'),
      },
    },
  },
  clock: {
    summary: 'show, advance or reset the clock of the sandbox',
    commands: {
      show: { summary: 'show the time in the sandbox', load: () => import('./clock/show.ts') },
      advance: {
        summary: 'advance the clock and do everything that falls due',
        load: () => import('./clock/advance.ts'),
      },
      real: {
        summary: "set the clock to this machine's time and let it run",
        load: () => import('./clock/real.ts'),
      },
    },
  },
  probe: {
    summary: 'send a receiver valid and invalid deliveries, and check its answers',
    load: () => import('./probe.ts'),
  },
  audit: {
    summary: 'list the mistakes of clients, or their requests',
    load: () => import('./audit.ts'),
  },
  snapshot: {
    summary: 'save, load and list snapshots of the sandbox',
    commands: {
      save: { summary: 'save the current state as a snapshot', load: () => import('./snapshot/save.ts') },
      load: { summary: 'restore a snapshot', load: () => import('./snapshot/load.ts') },
      list: { summary: 'list the snapshots', load: () => import('./snapshot/list.ts') },
    },
  },
}
