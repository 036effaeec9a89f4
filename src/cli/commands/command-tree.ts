import { type CommandTree, command, commandsOf } from '../command.ts'
import { SANDBOX_COMMANDS } from './sandbox/commands.ts'

const ENDPOINTS: CommandTree = {
  ...commandsOf(() => import('./endpoints/endpoints.ts'), {
    list: 'list the endpoints with their addresses',
    add: 'create an endpoint and print the values for the webhook settings of the service',
    test: 'send an endpoint signed, forged and repeated deliveries, and check its answers',
    edit: 'change the events, account, scheme or header of an endpoint',
    pin: 'set the signature scheme of an endpoint and accept its deliveries',
    disable: 'refuse the deliveries of an endpoint',
    enable: 'accept the deliveries of an endpoint again',
    remove: 'remove an endpoint for good; the events it received are kept',
  }),
  show: command(
    'show an endpoint: its scheme, the last use of each secret, deliveries in 24 h',
    () => import('./endpoints/show.ts'),
  ),
  rotate: command(
    'create a new secret and let the old one expire, or retire the old one now',
    () => import('./endpoints/rotate.ts'),
  ),
  solve: command('find out how deliveries are signed, or why no scheme fits', () => import('./endpoints/solve.ts')),
  send: command('sign any body and send it to any URL', () => import('./endpoints/send.ts')),
}

const ACCOUNTS = commandsOf(() => import('./accounts.ts'), {
  list: 'list the accounts, without their keys',
  add: 'add an account',
  show: 'show an account and the endpoints that use it',
  edit: 'change the key, base URL, plan or storage names of an account',
  remove: 'remove an account and its keys',
})

const EVENTS: CommandTree = {
  ...commandsOf(() => import('./events/list.ts'), {
    list: 'list the newest events',
    tail: 'follow events as they arrive',
  }),
  show: command('show an event with its content, deliveries and runs', () => import('./events/show.ts')),
  match: command('ask which workflows an event would start, and why not the others', () => import('./events/match.ts')),
  replay: command('run workflows again on one or many stored events', () => import('./events/replay.ts')),
}

const DELIVERIES = commandsOf(() => import('./deliveries.ts'), {
  list: 'list the newest deliveries with their verdicts',
  show: 'show a delivery: its verdict and reason, its event and runs',
})

const RUNS: CommandTree = {
  ...commandsOf(() => import('./runs/list.ts'), {
    list: 'list the newest runs',
    tail: 'follow runs as their states change',
    summary: 'group failed runs by their error, with counts, first and last moment',
  }),
  show: command('show a run with its steps and failed attempts', () => import('./runs/show.ts')),
  ...commandsOf(() => import('./runs/acts.ts'), {
    retry: 'retry failed or canceled runs from the step that failed',
    resolve: 'mark failed runs as resolved, so that they need nobody any more',
    fork: 'start a new run that keeps the results before a given step',
    resume: 'resume runs that wait for a person',
    cancel: 'cancel unfinished runs',
    answer: 'answer a callback URL at which a run waits',
  }),
  test: command('write a test from a run, with its answers beside it', () => import('./runs/test.ts')),
}

const WORKFLOWS = commandsOf(() => import('./workflows.ts'), {
  list: 'list the workflows with their triggers',
  show: 'show a workflow with its newest runs',
  start: 'start a callable workflow with an input',
  pause: 'pause a workflow and hold its runs',
  resume: 'resume a workflow and release its held runs, oldest first',
  remove: 'remove a workflow whose module is gone',
})

const DB: CommandTree = {
  ...commandsOf(() => import('./db/migrate.ts'), {
    migrate: 'bring the schema up to date, or say what that takes',
    move: 'move the database file into PostgreSQL, without losing a run',
  }),
  ...commandsOf(() => import('./db/upkeep.ts'), {
    backup: 'copy the database while the app is running, and check the copy',
    verify: 'check the whole database, or a backup',
    prune: 'delete data older than the retention of the project',
    reseal: 'encrypt the stored secrets with another key',
  }),
}

const EFFECTS: CommandTree = {
  ...commandsOf(() => import('./safety/effects/effects.ts'), {
    list: 'list the newest rows of the effect ledger',
    show: 'show a whole row of the ledger',
    of: 'show everything that was done to a file',
    stop: 'hold every delete and `once` step from now on',
    resume: 'end a stop, and let what it held go on',
    anchor: 'seal the ledger and print the end of its chain',
    restored: 'confirm that the database was restored from a backup',
  }),
  export: command(
    'write the ledger to standard output, a JSON document per row',
    () => import('./safety/effects/export.ts'),
  ),
  verify: command(
    'follow the seals of the ledger, and look for its anchors',
    () => import('./safety/effects/verify.ts'),
  ),
}

/** All commands, in the order of the help. */
export const COMMAND_TREE: CommandTree = {
  init: command('create a project with a workflow and its test', () => import('./app/init.ts')),
  ...commandsOf(() => import('./app/start.ts'), {
    dev: 'run the app with a sandbox of the service, to develop workflows',
    start: 'run the app in production, with the real service and a JSON log',
  }),
  status: command(
    'show whether an app is running here, its addresses, and whether it is ready',
    () => import('./app/status.ts'),
  ),
  top: command('watch the load and what needs you, once a second', () => import('./watch/top/top.ts')),
  dashboard: command('print and open a link that logs in to the dashboard', () => import('./watch/dashboard.ts')),
  endpoints: { summary: 'manage the addresses that the service sends deliveries to', commands: ENDPOINTS },
  accounts: { summary: 'manage accounts of the service: their API keys and base URLs', commands: ACCOUNTS },
  trigger: command('send a signed event of your own to the running app', () => import('./events/trigger.ts')),
  events: { summary: 'list, show and replay the events that were received', commands: EVENTS },
  deliveries: {
    summary: 'list and show the requests to the endpoints, refused ones too',
    commands: DELIVERIES,
  },
  runs: { summary: 'list, show, retry, fork, resume and cancel runs of workflows', commands: RUNS },
  workflows: { summary: 'list, show, pause and resume workflows', commands: WORKFLOWS },
  coverage: command(
    'compare files, events, runs and effects, and name what does not fit',
    () => import('./events/losses/coverage.ts'),
  ),
  types: {
    summary: 'make and check schemas from the events that came',
    commands: {
      generate: command(
        'write a schema for each event type from the events that came',
        () => import('./events/schemas/generate.ts'),
      ),
      check: command(
        'compare the schemas of workflows with the events that came',
        () => import('./events/schemas/check.ts'),
      ),
    },
  },
  schedules: {
    summary: 'list, add, change, run, fill and pause schedules',
    commands: commandsOf(() => import('./schedules.ts'), {
      list: 'list the schedules with their last and next times',
      show: 'show a schedule with its next five moments',
      add: 'run a callable workflow by the clock',
      edit: 'change a schedule that a person or code added',
      remove: 'remove a schedule that a person or code added',
      run: 'run a schedule now',
      backfill: 'run the moments of a past stretch',
      pause: 'pause a schedule',
      resume: 'resume a paused schedule',
    }),
  },
  files: {
    summary: 'list, download and delete files in the storages of the service',
    commands: {
      ...commandsOf(() => import('./files/files.ts'), {
        ls: 'list the entries of a folder',
        get: 'download a file, or continue an interrupted download',
        url: 'print a temporary download URL of a file',
      }),
      diff: command('compare two folders, of one storage or of two', () => import('./files/diff.ts')),
      rm: command('delete files, after a confirmation', () => import('./files/rm.ts')),
    },
  },
  sandbox: { summary: 'run, fill, break and inspect a stand-in for the service', commands: SANDBOX_COMMANDS },
  doctor: command('check configuration, service, endpoints, database and machine', () => import('./doctor/doctor.ts')),
  config: {
    summary: 'inspect the configuration of the project',
    commands: { show: command('list all settings, with secrets hidden', () => import('./app/config-show.ts')) },
  },
  db: { summary: 'back up, verify, prune and reseal the database', commands: DB },
  approvals: {
    summary: 'list, show, approve and deny what waits for people',
    commands: {
      list: command('list what waits for people, newest first', () => import('./safety/approvals/list.ts')),
      show: command('show the list or the question of an approval', () => import('./safety/approvals/show.ts')),
      approve: command('approve exactly the list that you saw', () => import('./safety/approvals/approve.ts')),
      deny: command('deny an approval, so that its steps fail', () => import('./safety/approvals/decide.ts')),
    },
  },
  approvers: {
    summary: 'manage the people who may decide approvals, and their keys',
    commands: commandsOf(() => import('./safety/approvers.ts'), {
      list: 'list the people who may decide approvals',
      key: 'make a key pair for a person',
      add: 'register a person by their public key',
      remove: "end a person's right to decide",
    }),
  },
  effects: { summary: 'find, stop and prove what runs deleted and wrote', commands: EFFECTS },
  guard: {
    summary: 'show how much of each limit on effects is used',
    commands: commandsOf(() => import('./safety/guard.ts'), {
      show: 'show how much of each limit is used',
      suggest: 'suggest limits from what workflows did',
    }),
  },
  plan: command('find what a workflow would do with an event, without doing it', () => import('./safety/plan/plan.ts')),
  rehearse: command(
    'run an event in a sandbox made for it, with real effects there',
    () => import('./app/rehearse/rehearse.ts'),
  ),
  backtest: command(
    'compare what code would do with what runs did, or whether unfinished ones go on',
    () => import('./safety/backtest/backtest.ts'),
  ),
  tokens: {
    summary: 'manage the tokens of programs that use the admin API',
    commands: commandsOf(() => import('./safety/tokens.ts'), {
      list: 'list the tokens of the admin API',
      add: 'make a token for a program, which is shown once',
      revoke: 'revoke a token',
    }),
  },
  operations: {
    summary: 'list, show and abort operations on many runs or events',
    commands: commandsOf(() => import('./watch/operations.ts'), {
      list: 'list the operations on many runs or events',
      show: 'show an operation: its progress, and what was refused',
      abort: 'end an operation; what is done stays done',
    }),
  },
  alerts: {
    summary: 'list and test the alerts of the project',
    commands: commandsOf(() => import('./watch/alerts.ts'), {
      list: 'list the alert rules, and what is wrong now',
      test: 'send a test message to the channels of a rule',
    }),
  },
  privacy: {
    summary: 'find and erase text of a person, or the names of their files',
    commands: commandsOf(() => import('./safety/privacy.ts'), {
      find: 'find where a text or a path is',
      erase: 'erase a text or a path for good; seals stay verifiable',
    }),
  },
  audit: {
    summary: 'list what people did',
    commands: commandsOf(() => import('./safety/audit.ts'), {
      list: 'list who did what, from where and why, newest first',
    }),
  },
  mcp: command(
    'let an agent look, and act where you allow it, over standard input and output',
    () => import('./watch/mcp.ts'),
  ),
  completion: command('print a script that completes commands in your shell', () => import('./shell/completion.ts')),
  version: command('print the versions of upshot and Node', () => import('./shell/version.ts')),
}
