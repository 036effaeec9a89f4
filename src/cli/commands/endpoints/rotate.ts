import { type Command, Option } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { type Endpoint, newSecret, planRetirement, planRotation } from '../../../core/incoming/endpoint.ts'
import type { Store } from '../../../core/store/store.ts'
import { isoTime, parseDuration, systemClock } from '../../../core/time.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { readSecret } from '../../input/read-source.ts'
import { addSecretOptions } from '../../input/signing-options.ts'
import { findKeeper } from '../../open/find-endpoint.ts'
import { withStore } from '../../open/open-project.ts'
import { tellSandbox } from '../../open/tell-sandbox.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { changeEndpoint } from './change-endpoint.ts'

interface Project {
  store: Store
  config: Config
}

/**
 * `upshot endpoints rotate <name>`: a new secret beside the old one, and later the end of the old
 * one.
 */
export function define(command: Command, out: Output): void {
  addSecretOptions(
    command
      .argument('<name>', 'the endpoint')
      .addOption(
        new Option('--overlap <time>', 'how long deliveries signed with the old secret are still taken')
          .choices(['0', '1h', '24h', '7d'])
          .default('24h' as const),
      )
      .addOption(
        new Option('--retire', 'make no new secret: end the old ones now').conflicts([
          'secretFile',
          'secretStdin',
          'secretEnv',
        ]),
      ),
    { what: 'new secret' },
  )
    .addHelpText('after', '\nWithout one of the --secret options a strong secret is made and printed, once.')
    .action(async (name, { overlap, retire, ...source }) => {
      await withStore(async (store, config) => {
        const project = { store, config }
        if (retire) return retireOld(out, project, name)
        const overlapMs = overlap === '0' ? 0 : parseDuration(overlap)
        return rotate(out, project, { name, given: await readSecret(source), overlapMs })
      })
    })
}

async function rotate(
  out: Output,
  project: Project,
  { name, given, overlapMs }: { name: string; given: string | undefined; overlapMs: number },
): Promise<void> {
  const now = systemClock.now()
  const { after } = await changeEndpoint(out, project, {
    name,
    plan(endpoint) {
      refuseForeign(endpoint, project.config)
      return planRotation(endpoint, given ?? newSecret(endpoint.scheme), { overlapMs, now })
    },
  })
  const { dryRun } = out.given
  const newest = after.secrets.at(-1)
  const secret = given === undefined && !dryRun ? (newest?.value ?? null) : null
  const ends = after.secrets.flatMap(({ position, until }) => (until === null ? [] : [{ position, until }]))
  const isTold =
    !dryRun && findKeeper(after, project.config) === 'sandbox' && (await tellSandbox(project.config, after))
  const data = {
    name,
    position: newest?.position ?? null,
    activeFrom: isoTime(now),
    ends: ends.map(({ position, until }) => ({ position, until: isoTime(until) })),
    secret,
  }
  out.result(data, () => [
    `Endpoint "${name}" takes a new secret from now on. ${isTold ? 'The sandbox signs with it already' : 'Paste it into the webhook settings of the service'}:`,
    '',
    `  Secret  ${secret ?? '(the one you gave)'}`,
    '',
    ...(ends.length === 0 ? ['The old secret is refused from now on.'] : []),
    ...ends.map(({ position, until }) => `Secret ${position} is taken until ${formatMoment(until, now)}.`),
    ...(secret === null ? [] : ['The new one is shown this once; keep it where you keep passwords.']),
  ])
  if (ends.length > 0) out.note(`See when the old one was last used: upshot endpoints show ${name}`)
}

async function retireOld(out: Output, project: Project, name: string): Promise<void> {
  const now = systemClock.now()
  const uses = new Map<number, number | null>()
  const { before, after } = await changeEndpoint(out, project, {
    name,
    plan: (endpoint) => planRetirement(endpoint, now),
  })
  for (const { position, lastUsedAt } of await project.store.listSecretUses(before.id)) uses.set(position, lastUsedAt)
  const kept = after.secrets.map(({ position }) => position)
  const retired = before.secrets.map(({ position }) => position).filter((position) => !kept.includes(position))
  out.result({ name, retired, kept }, () => [
    retired.length === 0
      ? `Endpoint "${name}" has no old secret: nothing to retire.`
      : `Deliveries signed with ${retired.length === 1 ? 'secret' : 'the secrets'} ${retired.join(', ')} are refused from the next one on.`,
  ])
  if (retired.length > 0 && kept.every((position) => !uses.get(position))) {
    out.note('The newest secret was not used yet: see that the service signs with it, or its deliveries are refused.')
  }
}

/** The app would rotate it back at its next start. */
function refuseForeign(endpoint: Endpoint, config: Config): void {
  if (findKeeper(endpoint, config) !== 'environment') return
  throw new UpshotError('conflict', `The secret of endpoint "${endpoint.name}" comes from SERVICE_WEBHOOK_SECRET.`, {
    details: {
      fix: 'Change SERVICE_WEBHOOK_SECRET and start the app again: the old secret is then taken for 24 h more.',
    },
  })
}
