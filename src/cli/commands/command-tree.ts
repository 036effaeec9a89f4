import type { CommandTree } from '../command.ts'
import { ACCOUNTS_COMMANDS } from './accounts/commands.ts'
import { DB_COMMANDS } from './db/commands.ts'
import { DELIVERIES_COMMANDS } from './deliveries/commands.ts'
import { ENDPOINTS_COMMANDS } from './endpoints/commands.ts'
import { EVENTS_COMMANDS } from './events/commands.ts'
import { FILES_COMMANDS } from './files/commands.ts'
import { RUNS_COMMANDS } from './runs/commands.ts'
import { SANDBOX_COMMANDS } from './sandbox/commands.ts'
import { SCHEDULES_COMMANDS } from './schedules/commands.ts'
import { WORKFLOWS_COMMANDS } from './workflows/commands.ts'

/** Every command, in the order in which the help lists them. */
export const COMMAND_TREE: CommandTree = {
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
  endpoints: { summary: 'addresses that the service sends deliveries to', commands: ENDPOINTS_COMMANDS },
  accounts: { summary: 'accounts of the service: the API key and base URL that runs get', commands: ACCOUNTS_COMMANDS },
  trigger: {
    summary: 'send a signed event of your own to the running app',
    load: () => import('./events/trigger.ts'),
  },
  events: { summary: 'what the service said happened', commands: EVENTS_COMMANDS },
  deliveries: { summary: 'the requests that reached the endpoints, refused ones too', commands: DELIVERIES_COMMANDS },
  runs: { summary: 'executions of workflows', commands: RUNS_COMMANDS },
  workflows: { summary: 'the modules that events and schedules start', commands: WORKFLOWS_COMMANDS },
  schedules: { summary: 'workflows that run by the clock', commands: SCHEDULES_COMMANDS },
  files: { summary: 'files in the storages of the service', commands: FILES_COMMANDS },
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
  db: { summary: 'the database of the project', commands: DB_COMMANDS },
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
