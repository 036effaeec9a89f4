import type { Command } from '@commander-js/extra-typings'
import { z } from 'zod'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { refuse } from '../../../core/errors.ts'
import { parseJson } from '../../../core/json.ts'
import { solveScheme } from '../../../core/solver/solve-scheme.ts'
import type { Cli } from '../../command.ts'
import { readBytes, readSecret, readText } from '../../input/read-source.ts'
import { addSecretOptions } from '../../input/signing-options.ts'
import { call } from '../../open/operations.ts'
import type { Output } from '../../terminal/output.ts'
import { describeAlgorithm, formatSigning } from './endpoint-view.ts'

type Told = AnswerOf<'POST /endpoints/:name/solve'>
type Solution = Pick<Told, 'kind' | 'tried'> & Partial<Told>

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
    .action(async (name, { delivery, pin = false, body, headers, ...source }) => {
      const secret = await readSecret(source)
      if (name === undefined) {
        if (delivery !== undefined || pin)
          throw refuse('--delivery and --pin need an endpoint.', 'Name the endpoint that captured the delivery.')
        if (body === undefined || headers === undefined || secret === undefined) throw refuse(INCOMPLETE, COMPLETE)
        return tell(
          out,
          solveScheme({ headers: parseHeaders(readText(headers)), body: readBytes(body), secrets: [secret] }),
        )
      }
      if (body !== undefined || headers !== undefined) throw refuse(FILES, 'Omit either the name or the files.')
      await project.withOperations(async (operations) => {
        const given = { delivery, secret, pin: pin && !out.given.dryRun }
        const solution = await call(operations, 'POST /endpoints/:name/solve', { params: { name }, body: given })
        tell(out, solution)
        if (solution.isPinned) out.note(PINNED)
        else if (solution.kind === 'match') out.note(`To accept such deliveries: upshot endpoints solve ${name} --pin`)
      })
    })
}

const FILES = '--body and --headers are for a delivery without an endpoint.'
const INCOMPLETE = 'Neither an endpoint nor a complete delivery was given.'
const COMPLETE = 'Name an endpoint, or add --body, --headers and one of the --secret options.'
const PINNED =
  'Pinned: the endpoint accepts deliveries from now on, and the app takes in the captured ones that verify.'

function tell(out: Output, solution: Solution): void {
  out.result(solution, () => formatSolution(solution))
  if (solution.kind !== 'match') out.leaveWith('difference')
}

/** The solution for a person; never shows a secret or a signature. */
function formatSolution({ kind, tried, scheme = null, preset, advice }: Solution): string[] {
  const combinations = `(${tried} combinations tried)`
  if (kind === 'none')
    return [`No known scheme fits ${combinations}. Check that the deliveries are signed with this secret.`]
  if (kind === 'near') {
    const form = scheme === null ? [] : ['', `  Algorithm  ${describeAlgorithm(scheme)}`]
    return [`No scheme fits ${combinations}. The most likely cause:`, '', `  ${advice}`, ...form]
  }
  return [
    `Found how the deliveries are signed ${combinations}:`,
    '',
    `  Scheme     ${preset ?? 'no preset'}`,
    ...(scheme === null ? [] : formatSigning(scheme)),
    `  As JSON    ${JSON.stringify(scheme)}`,
  ]
}

const headerObject = z.record(z.string(), z.string())

/** Reads headers, one per line or as a JSON object. Throws `invalid_request`. */
export function parseHeaders(text: string): Record<string, string> {
  if (text.trimStart().startsWith('{')) {
    const parsed = headerObject.safeParse(parseJson(text))
    if (parsed.success) return parsed.data
    throw refuse('The headers are not a JSON object of strings.', HEADERS)
  }
  // curl prints "> " or "< " before each line, and the request line first.
  const lines = text.split(/\r?\n/).map((line) => line.replace(/^[<>] ?/, '').trim())
  const pairs = lines.flatMap((line) => {
    const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name, value] as const]
  })
  if (pairs.length > 0) return Object.fromEntries(pairs)
  throw refuse('The headers have no line such as "X-Service-Signature: 5d41…".', HEADERS)
}

const HEADERS = 'Write one header per line, as in an HTTP request, or a JSON object.'
