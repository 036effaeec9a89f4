import type { CommandTree } from '../../command.ts'

/** The commands of `upshot sandbox`. */
export const SANDBOX_COMMANDS: CommandTree = {
  start: {
    summary: 'run the sandbox alone, until Ctrl-C, and print its addresses and a fresh API key',
    load: () => import('./start.ts'),
  },
  status: {
    summary: 'where it runs, its settings, and what it holds',
    load: () => import('./status.ts'),
  },
  reset: {
    summary: 'make it as it was at its very first start',
    load: () => import('./reset.ts'),
  },
  settings: {
    summary: 'show or change plan, form of replies and every switch',
    load: () => import('./settings.ts'),
  },
  key: {
    summary: 'API keys of the account',
    commands: {
      new: { summary: 'make a key and print it', load: () => import('./key/new.ts') },
      list: { summary: 'the keys, without themselves', load: () => import('./key/list.ts') },
      revoke: { summary: 'refuse a key from now on', load: () => import('./key/revoke.ts') },
    },
  },
  webhook: {
    summary: 'addresses that are told of events',
    commands: {
      add: { summary: 'register an address', load: () => import('./webhook/add.ts') },
      list: { summary: 'the registered addresses', load: () => import('./webhook/list.ts') },
      remove: { summary: 'tell an address nothing more', load: () => import('./webhook/remove.ts') },
    },
  },
  storage: {
    summary: 'files in the storages, as if somebody else put them there',
    commands: {
      put: {
        summary: 'copy a file of this machine into a storage',
        load: () => import('./storage/put.ts'),
      },
      ls: { summary: 'what a folder holds', load: () => import('./storage/ls.ts') },
      rm: {
        summary: 'delete a file, or a folder with all in it',
        load: () => import('./storage/rm.ts'),
      },
    },
  },
  transfer: {
    summary: 'copies from one storage to another',
    commands: {
      start: {
        summary: 'copy a file or a folder, or fail on the way',
        load: () => import('./transfer/start.ts'),
      },
      list: { summary: 'the newest transfers', load: () => import('./transfer/list.ts') },
      cancel: { summary: 'end a transfer that runs', load: () => import('./transfer/cancel.ts') },
    },
  },
  deliveries: {
    summary: 'what was sent to webhooks, with every attempt',
    commands: {
      list: { summary: 'the newest deliveries', load: () => import('./deliveries/list.ts') },
      resend: { summary: 'send an event once more', load: () => import('./deliveries/resend.ts') },
      backfill: {
        summary: 'send a webhook every event that it missed',
        load: () => import('./deliveries/backfill.ts'),
      },
    },
  },
  fault: {
    summary: 'what goes wrong on purpose',
    commands: {
      add: { summary: 'let something go wrong', load: () => import('./fault/add.ts') },
      list: { summary: 'the faults and how often they struck', load: () => import('./fault/list.ts') },
      clear: {
        summary: 'let one fault, or all of them, be over',
        load: () => import('./fault/clear.ts'),
      },
    },
  },
  clock: {
    summary: 'the time that the sandbox lives in',
    commands: {
      show: { summary: 'what time it is there', load: () => import('./clock/show.ts') },
      advance: {
        summary: 'move it forward, with all that falls due',
        load: () => import('./clock/advance.ts'),
      },
      real: {
        summary: "back to the machine's time, and along with it",
        load: () => import('./clock/real.ts'),
      },
    },
  },
  probe: {
    summary: 'send a receiver what it must accept and what it must refuse',
    load: () => import('./probe.ts'),
  },
  audit: {
    summary: 'what clients did wrong, and the requests they made',
    load: () => import('./audit.ts'),
  },
  snapshot: {
    summary: 'states of the sandbox to come back to',
    commands: {
      save: { summary: 'keep everything as it is now', load: () => import('./snapshot/save.ts') },
      load: { summary: 'make everything as it was then', load: () => import('./snapshot/load.ts') },
      list: { summary: 'the snapshots there are', load: () => import('./snapshot/list.ts') },
    },
  },
}
