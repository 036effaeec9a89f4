import type { CommandTree } from '../command.ts'
import { ACCOUNTS_COMMANDS } from './accounts/commands.ts'
import { DB_COMMANDS } from './db/commands.ts'
import { DELIVERIES_COMMANDS } from './deliveries/commands.ts'
import { ENDPOINTS_COMMANDS } from './endpoints/commands.ts'
import { EVENTS_COMMANDS, TYPES_COMMANDS } from './events/commands.ts'
import { FILES_COMMANDS } from './files/commands.ts'
import { RUNS_COMMANDS } from './runs/commands.ts'
import {
  APPROVALS_COMMANDS,
  APPROVERS_COMMANDS,
  AUDIT_COMMANDS,
  CORPUS_COMMANDS,
  DEPLOYS_COMMANDS,
  EFFECTS_COMMANDS,
  GUARD_COMMANDS,
  TOKENS_COMMANDS,
} from './safety/commands.ts'
import { SANDBOX_COMMANDS } from './sandbox/commands.ts'
import { SCHEDULES_COMMANDS } from './schedules/commands.ts'
import { ALERTS_COMMANDS, OPERATIONS_COMMANDS } from './watch/commands.ts'
import { WORKFLOWS_COMMANDS } from './workflows/commands.ts'

/** All commands, in the order of the help. */
export const COMMAND_TREE: CommandTree = {
  init: {
    summary: 'create a project with a workflow and its test',
    load: () => import('./app/init.ts'),
  },
  dev: {
    summary: 'run the app with a sandbox of the service, to develop workflows',
    load: () => import('./app/dev.ts'),
  },
  start: {
    summary: 'run the app in production, with the real service and a JSON log',
    load: () => import('./app/start.ts'),
  },
  status: {
    summary: 'show whether an app is running here, its addresses, and whether it is ready',
    load: () => import('./app/status.ts'),
  },
  top: {
    summary: 'watch the load and what needs you, once a second',
    load: () => import('./watch/top/top.ts'),
  },
  dashboard: {
    summary: 'print and open a link that logs in to the dashboard',
    load: () => import('./watch/dashboard.ts'),
  },
  endpoints: { summary: 'manage the addresses that the service sends deliveries to', commands: ENDPOINTS_COMMANDS },
  accounts: { summary: 'manage accounts of the service: their API keys and base URLs', commands: ACCOUNTS_COMMANDS },
  trigger: {
    summary: 'send a signed event of your own to the running app',
    load: () => import('./events/trigger.ts'),
  },
  events: { summary: 'list, show and replay the events that were received', commands: EVENTS_COMMANDS },
  deliveries: {
    summary: 'list, show and replay the requests to the endpoints, refused ones too',
    commands: DELIVERIES_COMMANDS,
  },
  runs: { summary: 'list, show, retry, fork, resume and cancel runs of workflows', commands: RUNS_COMMANDS },
  workflows: { summary: 'list, show, pause and resume workflows', commands: WORKFLOWS_COMMANDS },
  coverage: {
    summary: 'compare files, events, runs and effects, and name what does not fit',
    load: () => import('./events/losses/coverage.ts'),
  },
  types: { summary: 'make and check schemas from the events that came', commands: TYPES_COMMANDS },
  schedules: { summary: 'list, run, pause and resume schedules', commands: SCHEDULES_COMMANDS },
  files: { summary: 'list, download and delete files in the storages of the service', commands: FILES_COMMANDS },
  sandbox: {
    summary: 'run, fill, break and inspect a stand-in for the service',
    commands: SANDBOX_COMMANDS,
  },
  doctor: {
    summary: 'check configuration, service, endpoints, database and machine',
    load: () => import('./doctor/doctor.ts'),
  },
  config: {
    summary: 'inspect the configuration of the project',
    commands: {
      show: { summary: 'list all settings, with secrets hidden', load: () => import('./app/config-show.ts') },
    },
  },
  db: { summary: 'back up, verify, prune and reseal the database', commands: DB_COMMANDS },
  approvals: { summary: 'list, show, approve and deny what waits for people', commands: APPROVALS_COMMANDS },
  approvers: { summary: 'manage the people who may decide approvals, and their keys', commands: APPROVERS_COMMANDS },
  effects: { summary: 'find, stop and prove what runs deleted and wrote', commands: EFFECTS_COMMANDS },
  guard: { summary: 'show how much of each limit on effects is used', commands: GUARD_COMMANDS },
  plan: {
    summary: 'find what a workflow would do with an event, without doing it',
    load: () => import('./safety/plan/plan.ts'),
  },
  backtest: {
    summary: 'compare what code would do with what recorded runs did',
    load: () => import('./safety/backtest/backtest.ts'),
  },
  corpus: { summary: 'save runs for backtests without the database', commands: CORPUS_COMMANDS },
  deploys: { summary: 'see what new code would do to unfinished runs', commands: DEPLOYS_COMMANDS },
  tokens: { summary: 'manage the tokens of programs that use the admin API', commands: TOKENS_COMMANDS },
  operations: { summary: 'list, show and abort operations on many runs or events', commands: OPERATIONS_COMMANDS },
  alerts: { summary: 'list and test the alerts of the project', commands: ALERTS_COMMANDS },
  audit: { summary: 'list what people did', commands: AUDIT_COMMANDS },
  mcp: {
    summary: 'let an agent look, and act where you allow it, over standard input and output',
    load: () => import('./watch/mcp.ts'),
  },
  demo: {
    summary: 'play the main workflows in a temporary folder, and check every effect',
    load: () => import('./app/demo.ts'),
  },
  completion: {
    summary: 'print a script that completes commands in your shell',
    load: () => import('./shell/completion.ts'),
  },
  version: { summary: 'print the versions of upshot and Node', load: () => import('./shell/version.ts') },
}
