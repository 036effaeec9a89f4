import type { Command } from '@commander-js/extra-typings'
import type { Output } from '../terminal/output.ts'
import { SANDBOX_COMMANDS } from './sandbox/commands.ts'

/** What the file of a command exports: it gives the command its arguments, options and action. */
export interface CommandFile {
  define(command: Command, out: Output): void
}

/** A group of commands, or a command whose file is read when it is called for. */
export type CommandNode =
  | { summary: string; commands: CommandTree }
  | { summary: string; load: () => Promise<CommandFile> }

/** Commands by their names. */
export interface CommandTree {
  [name: string]: CommandNode
}

/** Every command, in the order in which the help lists them. */
export const COMMANDS: CommandTree = {
  init: {
    summary: 'make a project of your own, with a workflow and its test',
    load: () => import('./app/init.ts'),
  },
  dev: {
    summary: 'the app with a sandbox of the service, for work on workflows',
    load: () => import('./app/dev.ts'),
  },
  start: {
    summary: 'the app for production: with the real service, and a log in JSON',
    load: () => import('./app/start.ts'),
  },
  status: {
    summary: 'whether an app runs on this data directory, where, and if it is ready',
    load: () => import('./app/status.ts'),
  },
  endpoints: {
    summary: 'addresses that the service sends deliveries to',
    commands: {
      list: { summary: 'the endpoints with their addresses', load: () => import('./endpoints/list.ts') },
      add: {
        summary: 'make an endpoint and print what to paste into the settings of the service',
        load: () => import('./endpoints/add.ts'),
      },
      show: {
        summary: 'one endpoint: how it is signed, when each secret was last used, what came in 24 h',
        load: () => import('./endpoints/show.ts'),
      },
      test: {
        summary: 'send it what it must take, refuse and know, and see that it does',
        load: () => import('./endpoints/test.ts'),
      },
      rotate: {
        summary: 'make a new secret and let the old one run out, or retire the old one now',
        load: () => import('./endpoints/rotate.ts'),
      },
      edit: {
        summary: 'change its events, account, scheme or header',
        load: () => import('./endpoints/edit.ts'),
      },
      solve: {
        summary: 'find out how deliveries are signed, or what stands in the way',
        load: () => import('./endpoints/solve.ts'),
      },
      pin: {
        summary: 'settle how its deliveries are signed, and take them',
        load: () => import('./endpoints/pin.ts'),
      },
      disable: { summary: 'refuse its deliveries', load: () => import('./endpoints/disable.ts') },
      enable: { summary: 'take its deliveries again', load: () => import('./endpoints/enable.ts') },
      remove: {
        summary: 'end its address and its secrets for ever; what it received stays',
        load: () => import('./endpoints/remove.ts'),
      },
      send: {
        summary: 'sign any body and send it to any URL',
        load: () => import('./endpoints/send.ts'),
      },
    },
  },
  accounts: {
    summary: 'accounts of the service: the API key and base URL that runs get',
    commands: {
      list: { summary: 'the accounts, never with a key', load: () => import('./accounts/list.ts') },
      add: { summary: 'add an account', load: () => import('./accounts/add.ts') },
      show: {
        summary: 'one account and the endpoints that use it',
        load: () => import('./accounts/show.ts'),
      },
      edit: {
        summary: 'change its key, base URL, plan or storage names',
        load: () => import('./accounts/edit.ts'),
      },
      remove: { summary: 'forget an account and its keys', load: () => import('./accounts/remove.ts') },
    },
  },
  trigger: {
    summary: 'send a signed event of your own to the running app',
    load: () => import('./events/trigger.ts'),
  },
  events: {
    summary: 'what the service said happened',
    commands: {
      list: { summary: 'the newest events', load: () => import('./events/list.ts') },
      show: {
        summary: 'one event with its content, its deliveries and its runs',
        load: () => import('./events/show.ts'),
      },
      replay: {
        summary: 'run workflows on stored events once more, one or many',
        load: () => import('./events/replay.ts'),
      },
      tail: { summary: 'events as they come', load: () => import('./events/tail.ts') },
    },
  },
  deliveries: {
    summary: 'the requests that reached the endpoints, refused ones too',
    commands: {
      list: {
        summary: 'the newest deliveries with their verdicts',
        load: () => import('./deliveries/list.ts'),
      },
      show: {
        summary: 'one delivery: its verdict and why, its event and runs',
        load: () => import('./deliveries/show.ts'),
      },
      replay: {
        summary: 'send the bytes of one that was taken again, freshly signed',
        load: () => import('./deliveries/replay.ts'),
      },
    },
  },
  runs: {
    summary: 'executions of workflows',
    commands: {
      list: { summary: 'the newest runs', load: () => import('./runs/list.ts') },
      show: { summary: 'one run with its steps and failed attempts', load: () => import('./runs/show.ts') },
      retry: {
        summary: 'go on with failed or canceled runs from the step that failed',
        load: () => import('./runs/retry.ts'),
      },
      fork: {
        summary: 'a new run that keeps the results of the steps before a given one',
        load: () => import('./runs/fork.ts'),
      },
      resume: { summary: 'go on with runs that wait for a person', load: () => import('./runs/resume.ts') },
      cancel: { summary: 'end runs that are not finished', load: () => import('./runs/cancel.ts') },
      tail: { summary: 'runs as their states change', load: () => import('./runs/tail.ts') },
    },
  },
  workflows: {
    summary: 'the modules that events and schedules start',
    commands: {
      list: { summary: 'the workflows with what starts them', load: () => import('./workflows/list.ts') },
      show: { summary: 'one workflow with its newest runs', load: () => import('./workflows/show.ts') },
      pause: { summary: 'keep its runs waiting', load: () => import('./workflows/pause.ts') },
      resume: { summary: 'let its runs go on, oldest first', load: () => import('./workflows/resume.ts') },
    },
  },
  schedules: {
    summary: 'workflows that run by the clock',
    commands: {
      list: {
        summary: 'cron lines with their last and next moments',
        load: () => import('./schedules/list.ts'),
      },
      run: { summary: 'make a tick now', load: () => import('./schedules/run.ts') },
      pause: { summary: 'make no more ticks', load: () => import('./schedules/pause.ts') },
      resume: { summary: 'make ticks again', load: () => import('./schedules/resume.ts') },
    },
  },
  files: {
    summary: 'files in the storages of the service',
    commands: {
      ls: { summary: 'the entries of a folder', load: () => import('./files/ls.ts') },
      get: { summary: 'download a file, or go on where it broke off', load: () => import('./files/get.ts') },
      rm: { summary: 'delete files, after saying which', load: () => import('./files/rm.ts') },
      url: { summary: 'a temporary address of a file', load: () => import('./files/url.ts') },
    },
  },
  sandbox: {
    summary: 'the stand-in of the service: run it, fill it, break it, look into it',
    commands: SANDBOX_COMMANDS,
  },
  doctor: {
    summary: 'whether everything is as it must be: configuration, service, endpoints, database, machine',
    load: () => import('./doctor/doctor.ts'),
  },
  config: {
    summary: 'the configuration of the project',
    commands: {
      show: { summary: 'every setting, with secrets hidden', load: () => import('./app/config-show.ts') },
    },
  },
  db: {
    summary: 'the database of the project',
    commands: {
      backup: {
        summary: 'copy it while the app runs, and check the copy',
        load: () => import('./db/backup.ts'),
      },
      verify: {
        summary: 'read all of it, or of a backup, and say what is wrong',
        load: () => import('./db/verify.ts'),
      },
      prune: {
        summary: 'remove now what is older than the retention of the project',
        load: () => import('./db/prune.ts'),
      },
      reseal: {
        summary: 'seal the secrets in it under another key',
        load: () => import('./db/reseal.ts'),
      },
    },
  },
  demo: {
    summary: 'the main job in a folder of its own: watch it work, and see every effect checked',
    load: () => import('./app/demo.ts'),
  },
  completion: {
    summary: 'print what makes a shell complete the commands',
    load: () => import('./shell/completion.ts'),
  },
  version: { summary: 'the version of upshot and of Node', load: () => import('./shell/version.ts') },
}
