import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { type Endpoint, planPin, planRotation } from '../../../core/incoming/endpoint.ts'
import type { SignatureScheme } from '../../../core/incoming/signature.ts'
import type { Solution } from '../../../core/solver/solve-scheme.ts'
import { systemClock } from '../../../core/time.ts'
import { readSecret, type SecretSource } from '../../input/read-source.ts'
import { addSecretOptions } from '../../input/signing-options.ts'
import { findEndpoint } from '../../open/find-endpoint.ts'
import { withStore } from '../../open/open-project.ts'
import type { Output } from '../../terminal/output.ts'
import { changeEndpoint } from './change-endpoint.ts'
import { formatSolution, solveEndpoint, solveFiles } from './find-scheme.ts'

interface Options extends SecretSource {
  delivery?: string | undefined
  pin?: true | undefined
  body?: string | undefined
  headers?: string | undefined
}

/**
 * `upshot endpoints solve`: finds out how deliveries are signed, from captured ones or from one in
 * two files.
 */
export function define(command: Command, out: Output): void {
  addSecretOptions(
    command
      .argument('[name]', 'the endpoint; its captured deliveries are looked at')
      .option('--delivery <id>', 'only this captured delivery, dlv_…')
      .option('--pin', 'when a scheme fits, pin it and take deliveries from the next one on')
      .option('--body <file>', 'without an endpoint: the body of a delivery, byte by byte')
      .option('--headers <file>', 'without an endpoint: its headers, a line each or as JSON'),
    { what: 'secret to try (default: those of the endpoint)' },
  )
    .addHelpText('after', '\nExits with 7 when no scheme fits as things are; then it says the nearest cause.')
    .action((name, options) => (name === undefined ? solveOffline(out, options) : solveOnline(out, name, options)))
}

async function solveOnline(out: Output, name: string, { delivery, pin, body, headers, ...source }: Options) {
  if (body !== undefined || headers !== undefined) {
    throw refuse('--body and --headers are for a delivery without an endpoint.', 'Leave the name or the files out.')
  }
  await withStore(async (store, config) => {
    const now = systemClock.now()
    const secret = await readSecret(source)
    const solution = await solveEndpoint(store, await findEndpoint(store, name), { delivery, secret }, now)
    const isPinned = pin === true && solution.kind === 'match' && !out.given.dryRun
    if (pin && solution.kind === 'match') {
      const plan = (endpoint: Endpoint) => planSolved(endpoint, solution.scheme, { secret, now })
      await changeEndpoint(out, { store, config }, { name, plan })
    }
    tell(out, solution, { endpoint: name, pinned: isPinned })
    if (isPinned) out.note('Pinned: it takes deliveries from now on, and what the service sends again.')
    else if (solution.kind === 'match')
      out.note(`Take deliveries so: add --pin, or use "upshot endpoints pin ${name}".`)
  })
}

/**
 * A secret that was tried in place of the endpoint's own is the one that its deliveries are signed
 * with.
 */
function planSolved(
  endpoint: Endpoint,
  scheme: SignatureScheme,
  { secret, now }: { secret: string | undefined; now: number },
): Endpoint {
  if (secret === undefined) return planPin(endpoint, scheme)
  return planPin(planRotation({ ...endpoint, scheme }, secret, { overlapMs: 0, now }), scheme)
}

async function solveOffline(out: Output, { delivery, pin, body, headers, ...source }: Options): Promise<void> {
  if (delivery !== undefined || pin) {
    throw refuse('--delivery and --pin need an endpoint.', 'Name the endpoint that captured the delivery.')
  }
  const secret = await readSecret(source)
  if (body === undefined || headers === undefined || secret === undefined) {
    throw refuse(
      'There is neither an endpoint nor a whole delivery.',
      'Name an endpoint, or add --body, --headers and one of the --secret options.',
    )
  }
  tell(out, solveFiles({ body, headers, secret }), {})
}

function tell(out: Output, solution: Solution, more: Record<string, unknown>): void {
  out.result({ ...more, ...solution }, () => formatSolution(solution))
  if (solution.kind !== 'match') out.leaveWith('difference')
}

function refuse(message: string, fix: string): UpshotError {
  return new UpshotError('invalid_request', message, { details: { fix } })
}
