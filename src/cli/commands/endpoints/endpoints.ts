import { Option } from '@commander-js/extra-typings'
import { ENDPOINT_ROUTES } from '../../../admin/contract/resources/endpoints.ts'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { refuse } from '../../../core/errors.ts'
import { SCHEME_PRESETS } from '../../../core/incoming/signature.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import { readSecret } from '../../input/read-source.ts'
import {
  addSecretOptions,
  parseHeader,
  parsePatterns,
  parseScheme,
  SCHEME_HELP,
  withHeader,
} from '../../input/signing-options.ts'
import { actCommand } from '../../operate/act-command.ts'
import { listCommand } from '../../operate/list-command.ts'
import { formatTable } from '../../terminal/table.ts'
import { adviseReach, type Endpoint, formatSigning } from './endpoint-view.ts'

const NAME = ['name', 'name of the endpoint'] as const
const EVENTS = 'event types and families that start workflows, such as file.*,transfer.completed'
const ACCOUNT = 'account of the service that its events belong to'
const MAKES_SECRET = 'Without a --secret option, a strong secret is generated and printed once.'

export const list = listCommand(ENDPOINT_ROUTES, 'GET /endpoints', {
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    {
      title: 'STATUS',
      value: ({ status }) => status,
      style: ({ status }) => (status === 'active' ? 'green' : 'yellow'),
    },
    { title: 'ACCOUNT', value: ({ account }) => account },
    { title: 'EVENTS', value: ({ events }) => events.join(','), most: 40 },
    { title: 'HEADER', value: ({ scheme }) => scheme.header },
    { title: 'URL', value: ({ url }) => url },
  ],
  empty: 'No endpoint yet. Create one with "upshot endpoints add <name>".',
  after: ({ items }) =>
    items.some(({ url }) => url === null)
      ? ['The URLs are known only while the app is running, because UPSHOT_PORT is 0.']
      : [],
})

export const add = actCommand('POST /endpoints', {
  argument: ['name', 'name of the new endpoint: a-z, 0-9 and "-"'],
  help: MAKES_SECRET,
  options: (command) =>
    addSecretOptions(
      command
        .addOption(new Option('--events <patterns>', EVENTS).argParser(parsePatterns).default(['*'], '*'))
        .option('--account <name>', ACCOUNT, DEFAULT_ACCOUNT)
        .addOption(learnOption())
        .addOption(
          new Option('--scheme <scheme>', SCHEME_HELP).argParser(parseScheme).default(SCHEME_PRESETS.hex, 'hex'),
        )
        .option('--header <name>', 'name of the signature header (default: that of the scheme)', parseHeader),
    ),
  mayCreate: true,
  tries: true,
  body: async ({ events, account, learn, scheme, header, ...source }, name) => ({
    name,
    events,
    account,
    learn,
    scheme: withHeader(scheme, header),
    secret: await readSecret(source),
  }),
  done: ({ endpoint, secret }) => describePaste(endpoint, secret),
  note({ endpoint }, name) {
    const next =
      endpoint.status === 'learning'
        ? `It answers 503 and captures deliveries until its scheme is known: upshot endpoints solve ${name}`
        : `Try it with "upshot endpoints test ${name}".`
    return [next, adviseReach(endpoint)].filter((line) => line !== null).join('\n')
  },
})

function describePaste({ name, status, url, scheme, events }: Endpoint, secret: string | null): string[] {
  return [
    `Created the endpoint "${name}". Enter these values in the webhook settings of the service:`,
    '',
    `  URL        ${url ?? '(known while the app is running: upshot endpoints list)'}`,
    `  Secret     ${secret ?? '(the one you gave)'}`,
    ...(status === 'learning' ? [] : formatSigning(scheme)),
    `  Events     ${events.join(', ')}`,
    '',
    ...(secret === null ? [] : ['The secret is not shown again. Store it like a password.']),
  ]
}

export const edit = actCommand('PATCH /endpoints/:name', {
  argument: NAME,
  options: (command) =>
    command
      .option('--events <patterns>', EVENTS, parsePatterns)
      .option('--account <name>', ACCOUNT)
      .option('--scheme <scheme>', SCHEME_HELP, parseScheme)
      .option('--header <name>', 'name of the signature header', parseHeader)
      .addOption(learnOption()),
  look: 'GET /endpoints/:name',
  tries: true,
  body({ events, account, scheme, header, learn }, _, { found }) {
    const change = { events, account, ...(learn ? { status: 'learning' } : {}) }
    if (scheme === undefined && header === undefined) return requireChange(change)
    const before = found.scheme
    const kept = found.isHeaderKept ? before.header : undefined
    return { ...change, scheme: withHeader(scheme ?? before, header ?? kept) }
  },
  done: ({ name, events, account, scheme }) => [
    `Changed the endpoint "${name}":`,
    '',
    `  Events     ${events.join(', ')}`,
    `  Account    ${account}`,
    ...formatSigning(scheme),
  ],
  note({ name, scheme, keeper }, _, found) {
    if (JSON.stringify(scheme) === JSON.stringify(found.scheme)) return null
    if (keeper === 'sandbox') return 'The sandbox uses this scheme from now on.'
    return `Make sure that the service signs this way too: "upshot endpoints test ${name}" checks only this side.`
  },
})

function requireChange<Change extends object>(change: Change): Change {
  if (Object.values(change).some((value) => value !== undefined)) return change
  throw refuse('No change was given.', 'Add --events, --account, --scheme, --header or --learn.')
}

function learnOption() {
  const help = 'refuse deliveries with 503 and capture them, until "endpoints solve" finds the scheme'
  return new Option('--learn', help).conflicts(['scheme', 'header'])
}

export const pin = actCommand('POST /endpoints/:name/pin', {
  argument: NAME,
  options: (command) =>
    command
      .addOption(new Option('--scheme <scheme>', SCHEME_HELP).argParser(parseScheme).makeOptionMandatory())
      .option('--header <name>', 'name of the signature header (default: that of the scheme)', parseHeader),
  tries: true,
  body: ({ scheme, header }) => ({ scheme: withHeader(scheme, header) }),
  done: ({ name, scheme }) => [
    `Endpoint "${name}" accepts deliveries that are signed like this:`,
    '',
    ...formatSigning(scheme),
  ],
})

export const disable = actCommand('PATCH /endpoints/:name', {
  argument: NAME,
  look: 'GET /endpoints/:name',
  body: () => ({ status: 'disabled' }),
  will: (name) => `disable the endpoint "${name}"`,
  done: (_, name, { found }) =>
    found.status === 'disabled'
      ? `Endpoint "${name}" was already disabled.`
      : `Endpoint "${name}" is now disabled: its deliveries are refused with 401.`,
  note: (_, name) => `The sender may give up on refused deliveries. Enable it with "upshot endpoints enable ${name}".`,
})

export const enable = actCommand('PATCH /endpoints/:name', {
  argument: NAME,
  look: 'GET /endpoints/:name',
  body: () => ({ status: 'active' }),
  will: (name) => `enable the endpoint "${name}"`,
  done: (_, name, { found }) =>
    found.status === 'active'
      ? `Endpoint "${name}" was already active.`
      : `Endpoint "${name}" accepts deliveries from now on.`,
  note: () => 'Deliveries refused meanwhile arrive only if the service sends them again.',
})

export const remove = actCommand('DELETE /endpoints/:name', {
  argument: NAME,
  look: 'GET /endpoints/:name',
  will: (name) => `remove the endpoint "${name}", its address and its secrets for good`,
  asks(found) {
    const deliveries = Object.values(found.deliveries24h ?? {}).reduce((sum, count) => sum + count, 0)
    return [
      `it received ${deliveries} deliveries in the last 24 h; further ones will be refused`,
      'stored deliveries, events and runs are kept',
    ]
  },
  done: (_, name) => `Removed the endpoint "${name}". The events it received are kept.`,
  note: () => 'Remove its address from the webhook settings of the service.',
})

type Trial = AnswerOf<'POST /endpoints/:name/test'>['trials'][number]

/** `upshot endpoints test <name>`: a signed, a forged and a repeated delivery; exits with 7. */
export const test = actCommand('POST /endpoints/:name/test', {
  argument: NAME,
  help: 'The event has the type upshot.test, which starts only workflows that name this type.',
  options: (command) =>
    command.option('--public', 'use the public URL, through every proxy before the app (default: its local address)'),
  look: 'GET /endpoints/:name',
  isSlow: 'Testing',
  body: ({ public: isPublic = false }) => ({ isPublic }),
  will: (name) => `send test deliveries to the endpoint "${name}"`,
  done: ({ trials, isPassed, event }, name, { out }) => [
    ...formatTable(trials, TRIAL_COLUMNS, out),
    '',
    isPassed ? `Endpoint "${name}" works. Event ${event} is stored.` : `Endpoint "${name}" does not work.`,
  ],
  note({ isPassed }, name, found) {
    if (isPassed) return null
    if (found.status === 'active') return `See the reason: upshot deliveries list --endpoint ${name}`
    return `It is ${found.status}: upshot endpoints ${found.status === 'disabled' ? 'enable' : 'solve'} ${name}`
  },
  leave: ({ isPassed }) => (isPassed ? null : 'difference'),
})

const TRIAL_COLUMNS = [
  { title: 'SENT', value: ({ sent }: Trial) => sent },
  { title: 'EXPECTED', value: ({ expected }: Trial) => expected },
  {
    title: 'GOT',
    value: ({ got }: Trial) => got,
    style: ({ isRight }: Trial) => (isRight ? ('green' as const) : ('red' as const)),
  },
  { title: 'STATUS', value: ({ status }: Trial) => status, align: 'right' as const },
]
