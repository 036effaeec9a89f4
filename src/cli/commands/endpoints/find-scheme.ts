import { z } from 'zod'
import { resolveAmong } from '../../../admin/queries/resolve-id.ts'
import { UpshotError } from '../../../core/errors.ts'
import { activeSecrets, type Endpoint, retiredSecrets } from '../../../core/incoming/endpoint.ts'
import { parseJson } from '../../../core/json.ts'
import { type Solution, solveCaptures, solveScheme } from '../../../core/solver/solve-scheme.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { readBytes, readText } from '../../input/read-source.ts'
import { describeAlgorithm } from './endpoint-view.ts'

/** Limits of a search for a scheme. */
interface SolveOptions {
  /** Id of the only captured delivery to use, or its beginning; undefined for all. */
  delivery: string | undefined
  /** The secret to try; undefined for those of the endpoint. */
  secret: string | undefined
}

/** Finds the scheme of an endpoint from its captured deliveries. Throws `not_found` without any. */
export async function findScheme(
  store: Pick<ReadStore, 'listCaptures'>,
  endpoint: Endpoint,
  { delivery, secret }: SolveOptions,
  now: number,
): Promise<Solution> {
  const all = await store.listCaptures(endpoint.id)
  const only = delivery === undefined ? null : resolveAmong(delivery, all)
  const captures = delivery === undefined ? all : all.filter(({ id }) => id === only?.id)
  if (captures.length === 0) throw describeNone(endpoint, delivery)
  const own = {
    secrets: activeSecrets(endpoint, now),
    oldSecrets: retiredSecrets(endpoint, now),
  }
  return solveCaptures(captures, secret === undefined ? own : { secrets: [secret] })
}

/** Finds the scheme of one delivery in two files, without a store or an app. */
export function findSchemeInFiles({
  body,
  headers,
  secret,
}: {
  body: string
  headers: string
  secret: string
}): Solution {
  return solveScheme({ headers: parseHeaders(readText(headers)), body: readBytes(body), secrets: [secret] })
}

const headerObject = z.record(z.string(), z.string())

/** Reads headers, one per line or as a JSON object. Throws `invalid_request`. */
export function parseHeaders(text: string): Record<string, string> {
  if (text.trimStart().startsWith('{')) {
    const parsed = headerObject.safeParse(parseJson(text))
    if (parsed.success) return parsed.data
    throw refuse('The headers are not a JSON object of strings.')
  }
  // curl prints "> " or "< " before each line, and the request line first.
  const lines = text.split(/\r?\n/).map((line) => line.replace(/^[<>] ?/, '').trim())
  const pairs = lines.flatMap((line) => {
    const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name, value] as const]
  })
  if (pairs.length > 0) return Object.fromEntries(pairs)
  throw refuse('The headers have no line such as "X-Service-Signature: 5d41…".')
}

/** The solution for a person; never shows a secret or a signature. */
export function formatSolution(solution: Solution): string[] {
  const tried = `(${solution.tried} combinations tried)`
  switch (solution.kind) {
    case 'match':
      return [
        `Found how the deliveries are signed ${tried}:`,
        '',
        `  Scheme     ${solution.preset ?? 'no preset'}`,
        `  Header     ${solution.scheme.header}`,
        `  Algorithm  ${describeAlgorithm(solution.scheme)}`,
        `  As JSON    ${JSON.stringify(solution.scheme)}`,
      ]
    case 'near': {
      const { scheme } = solution
      const form = scheme === null ? [] : ['', `  Algorithm  ${describeAlgorithm(scheme)}`]
      return [`No scheme fits ${tried}. The most likely cause:`, '', `  ${solution.advice}`, ...form]
    }
    case 'none':
      return [`No known scheme fits ${tried}. Check that the deliveries are signed with this secret.`]
    default:
      return solution satisfies never
  }
}

function describeNone({ name, status }: Endpoint, delivery: string | undefined): UpshotError {
  if (delivery !== undefined) {
    return new UpshotError('not_found', `Endpoint "${name}" has captured no delivery ${delivery}.`, {
      details: { fix: `List the captured ones with "upshot deliveries list --endpoint ${name} --verdict learning".` },
    })
  }
  const fix =
    status === 'learning'
      ? 'Make the service send an event, then run this again.'
      : `Capture deliveries with "upshot endpoints edit ${name} --learn", which refuses them meanwhile.`
  return new UpshotError('not_found', `Endpoint "${name}" has captured no delivery yet.`, { details: { fix } })
}

function refuse(message: string): UpshotError {
  return new UpshotError('invalid_request', message, {
    details: { fix: 'Write one header per line, as in an HTTP request, or a JSON object.' },
  })
}
