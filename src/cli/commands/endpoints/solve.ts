import type { Command } from '@commander-js/extra-typings'
import { requireEndpoint } from '../../../admin/queries/require-row.ts'
import { UpshotError } from '../../../core/errors.ts'
import { type Endpoint, planPin, planRotation } from '../../../core/incoming/endpoint.ts'
import type { SignatureScheme } from '../../../core/incoming/signature.ts'
import type { Solution } from '../../../core/solver/solve-scheme.ts'
import type { Cli } from '../../command.ts'
import { readSecret, type SecretSource } from '../../input/read-source.ts'
import { addSecretOptions } from '../../input/signing-options.ts'
import { commandClock } from '../../open/command-clock.ts'
import type { Output } from '../../terminal/output.ts'
import { changeEndpoint } from './change-endpoint.ts'
import { findScheme, findSchemeInFiles, formatSolution } from './find-scheme.ts'

interface Options extends SecretSource {
  delivery?: string | undefined
  pin?: true | undefined
  body?: string | undefined
  headers?: string | undefined
}

/** `upshot endpoints solve`: finds the scheme of captured deliveries, or of one in two files. */
export function define(command: Command, { out, project }: Cli): void {
  addSecretOptions(
    command
      .argument('[name]', 'name of the endpoint that captured deliveries')
      .option('--delivery <id>', 'id of the only captured delivery to use, or its beginning (default: all)')
      .option('--pin', 'if a scheme fits, pin it and accept deliveries from now on')
      .option('--body <file>', 'without an endpoint: file with the bytes of a body')
      .option('--headers <file>', 'without an endpoint: file with the headers, one per line or as JSON'),
    { what: 'secret to try (default: those of the endpoint)' },
  )
    .addHelpText('after', '\nExits with 7 if no scheme fits, and prints the most likely cause.')
    .action((name, options) =>
      name === undefined ? solveOffline(out, options) : solveOnline({ out, project }, name, options),
    )
}

async function solveOnline(
  { out, project }: Pick<Cli, 'out' | 'project'>,
  name: string,
  { delivery, pin, body, headers, ...source }: Options,
) {
  if (body !== undefined || headers !== undefined) {
    throw refuse('--body and --headers are for a delivery without an endpoint.', 'Omit either the name or the files.')
  }
  await project.withStore(async (store, config) => {
    const now = commandClock.now()
    const secret = await readSecret(source)
    const solution = await findScheme(store, await requireEndpoint(store, name), { delivery, secret }, now)
    const isPinned = pin === true && solution.kind === 'match' && !out.given.dryRun
    if (pin && solution.kind === 'match') {
      const plan = (endpoint: Endpoint) => planSolved(endpoint, solution.scheme, { secret, now })
      await changeEndpoint(out, { store, config }, { name, plan })
    }
    tell(out, solution, { endpoint: name, pinned: isPinned })
    if (isPinned)
      out.note(
        'Pinned: the endpoint accepts deliveries from now on, and the app takes in the captured ones that verify.',
      )
    else if (solution.kind === 'match') out.note(`To accept such deliveries: upshot endpoints solve ${name} --pin`)
  })
}

/** Pins the scheme. A secret that was given and fits becomes the endpoint's own. */
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
      'Neither an endpoint nor a complete delivery was given.',
      'Name an endpoint, or add --body, --headers and one of the --secret options.',
    )
  }
  tell(out, findSchemeInFiles({ body, headers, secret }), {})
}

function tell(out: Output, solution: Solution, more: Record<string, unknown>): void {
  out.result({ ...more, ...solution }, () => formatSolution(solution))
  if (solution.kind !== 'match') out.leaveWith('difference')
}

function refuse(message: string, fix: string): UpshotError {
  return new UpshotError('invalid_request', message, { details: { fix } })
}
