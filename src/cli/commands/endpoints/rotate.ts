import { type Command, Option } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { type Endpoint, isActive, newSecret, planRetirement, planRotation } from '../../../core/incoming/endpoint.ts'
import { isoTime, parseDuration } from '../../../core/time.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { Cli } from '../../command.ts'
import { readSecret } from '../../input/read-source.ts'
import { addSecretOptions } from '../../input/signing-options.ts'
import { commandClock } from '../../open/command-clock.ts'
import { findKeeper } from '../../open/find-keeper.ts'
import type { PersonStore } from '../../open/operations.ts'
import { tellSandbox } from '../../open/tell-sandbox.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { changeEndpoint } from './change-endpoint.ts'

interface Opened {
  store: PersonStore
  config: Config
}

/** `upshot endpoints rotate <name>`: adds a secret beside the old one, or retires the old one. */
export function define(command: Command, { out, project }: Cli): void {
  addSecretOptions(
    command
      .argument('<name>', 'name of the endpoint')
      .addOption(
        new Option('--overlap <time>', 'how long deliveries signed with the old secret are still accepted')
          .choices(['0', '1h', '24h', '7d'])
          .default('24h' as const),
      )
      .addOption(
        new Option('--retire', 'create no new secret, but end the old ones now').conflicts([
          'secretFile',
          'secretStdin',
          'secretEnv',
        ]),
      ),
    { what: 'new secret' },
  )
    .addHelpText('after', '\nWithout a --secret option, a strong secret is generated and printed once.')
    .action(async (name, { overlap, retire, ...source }) => {
      await project.withStore(async (store, config) => {
        const opened = { store, config }
        if (retire) return retireOld(out, opened, name)
        const overlapMs = overlap === '0' ? 0 : parseDuration(overlap)
        return rotate(out, opened, { name, given: await readSecret(source), overlapMs })
      })
    })
}

async function rotate(
  out: Output,
  opened: Opened,
  { name, given, overlapMs }: { name: string; given: string | undefined; overlapMs: number },
): Promise<void> {
  const now = commandClock.now()
  const { after } = await changeEndpoint(out, opened, {
    name,
    plan(endpoint) {
      refuseSetByEnvironment(endpoint, opened.config)
      return planRotation(endpoint, given ?? newSecret(endpoint.scheme), { overlapMs, now })
    },
  })
  const { dryRun } = out.given
  const newest = after.secrets.at(-1)
  const secret = given === undefined && !dryRun ? (newest?.value ?? null) : null
  const ends = after.secrets.flatMap(({ position, until }) =>
    until === null || until <= now ? [] : [{ position, until }],
  )
  const isTold = !dryRun && findKeeper(after, opened.config) === 'sandbox' && (await tellSandbox(opened.config, after))
  const data = {
    name,
    position: newest?.position ?? null,
    activeFrom: isoTime(now),
    ends: ends.map(({ position, until }) => ({ position, until: isoTime(until) })),
    secret,
  }
  const next = isTold ? 'The sandbox already signs with it' : 'Enter it in the webhook settings of the service'
  out.result(data, () => [
    `Endpoint "${name}" accepts a new secret from now on. ${next}:`,
    '',
    `  Secret  ${secret ?? '(the one you gave)'}`,
    '',
    ...(ends.length === 0 ? ['The old secret is no longer accepted.'] : []),
    ...ends.map(({ position, until }) => `Secret ${position} is accepted until ${formatMoment(until, now)}.`),
    ...(secret === null ? [] : ['The new secret is not shown again. Store it like a password.']),
  ])
  if (ends.length > 0) out.note(`See when the old secret was last used: upshot endpoints show ${name}`)
}

async function retireOld(out: Output, opened: Opened, name: string): Promise<void> {
  const now = commandClock.now()
  const uses = new Map<number, number | null>()
  const { before, after } = await changeEndpoint(out, opened, {
    name,
    plan: (endpoint) => planRetirement(endpoint, now),
  })
  for (const { position, lastUsedAt } of await opened.store.listSecretUses(before.id)) uses.set(position, lastUsedAt)
  const kept = listActive(after, now)
  const retired = listActive(before, now).filter((position) => !kept.includes(position))
  const secrets = `${retired.length === 1 ? 'secret' : 'the secrets'} ${retired.join(', ')}`
  out.result({ name, retired, kept }, () => [
    retired.length === 0
      ? `Endpoint "${name}" has no old secret to retire.`
      : `Deliveries signed with ${secrets} are refused from now on.`,
  ])
  if (retired.length > 0 && kept.every((position) => !uses.get(position))) {
    out.note('The newest secret has not been used yet. If the service does not sign with it, deliveries are refused.')
  }
}

function listActive({ secrets }: Endpoint, now: number): number[] {
  return secrets.filter((secret) => isActive(secret, now)).map(({ position }) => position)
}

/** Refuses a secret of the environment: the app would rotate it back at its next start. */
function refuseSetByEnvironment(endpoint: Endpoint, config: Config): void {
  if (findKeeper(endpoint, config) !== 'environment') return
  throw new UpshotError('conflict', `The secret of endpoint "${endpoint.name}" comes from SERVICE_WEBHOOK_SECRET.`, {
    details: {
      fix: 'Change SERVICE_WEBHOOK_SECRET and restart the app. The old secret is accepted for another 24 h.',
    },
  })
}
