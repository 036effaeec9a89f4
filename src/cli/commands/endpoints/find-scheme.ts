import { z } from 'zod'
import { UpshotError } from '../../../core/errors.ts'
import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import { isActive } from '../../../core/incoming/endpoint.ts'
import { type Solution, solveCaptures, solveScheme } from '../../../core/solver/solve-scheme.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { readBytes, readText } from '../../input/read-source.ts'
import { describeAlgorithm } from './endpoint-view.ts'

/** What a solver command was given besides the name of an endpoint. */
export interface SolveOptions {
  /** One capture instead of all. */
  delivery: string | undefined
  /** In place of the endpoint's own secrets. */
  secret: string | undefined
}

/**
 * Looks for the scheme of an endpoint in the deliveries that it captured. Throws `not_found` where
 * there are none.
 */
export async function solveEndpoint(
  store: Pick<ReadStore, 'listCaptures'>,
  endpoint: Endpoint,
  { delivery, secret }: SolveOptions,
  now: number,
): Promise<Solution> {
  const captures = (await store.listCaptures(endpoint.id)).filter(({ id }) => delivery === undefined || id === delivery)
  if (captures.length === 0) throw describeNone(endpoint, delivery)
  const own = {
    secrets: endpoint.secrets.filter((each) => isActive(each, now)).map(({ value }) => value),
    oldSecrets: endpoint.secrets.filter((each) => !isActive(each, now)).map(({ value }) => value),
  }
  return solveCaptures(captures, secret === undefined ? own : { secrets: [secret] })
}

/** The same for a delivery in two files, with neither store nor app. */
export function solveFiles({ body, headers, secret }: { body: string; headers: string; secret: string }): Solution {
  return solveScheme({ headers: parseHeaders(readText(headers)), body: readBytes(body), secrets: [secret] })
}

const headerObject = z.record(z.string(), z.string())

/**
 * Reads headers as HTTP writes them, a line each, or as a JSON object; throws `invalid_request` for
 * anything else.
 */
export function parseHeaders(text: string): Record<string, string> {
  if (text.trimStart().startsWith('{')) {
    const parsed = headerObject.safeParse(parseJson(text))
    if (parsed.success) return parsed.data
    throw refuse('The headers are no JSON object of texts.')
  }
  // "> " and "< " stand before each line where curl has printed them; a first line may be the
  // request's.
  const lines = text.split(/\r?\n/).map((line) => line.replace(/^[<>] ?/, '').trim())
  const pairs = lines.flatMap((line) => {
    const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name, value] as const]
  })
  if (pairs.length > 0) return Object.fromEntries(pairs)
  throw refuse('The headers hold no line such as "X-Service-Signature: 5d41…".')
}

/** Null for what is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * The solution for a person: what was found and what it means, never with a secret or a signature.
 */
export function formatSolution(solution: Solution): string[] {
  const tried = `(${solution.tried} combinations tried)`
  switch (solution.kind) {
    case 'match':
      return [
        `The deliveries are signed like this ${tried}:`,
        '',
        `  Scheme     ${solution.preset ?? 'no preset'}`,
        `  Header     ${solution.scheme.header}`,
        `  Algorithm  ${describeAlgorithm(solution.scheme)}`,
        `  As JSON    ${JSON.stringify(solution.scheme)}`,
      ]
    case 'near': {
      const { scheme } = solution
      const form = scheme === null ? [] : ['', `  Algorithm  ${describeAlgorithm(scheme)}`]
      return [`No scheme fits as things are ${tried}, and this is why:`, '', `  ${solution.advice}`, ...form]
    }
    case 'none':
      return [`No scheme that is known fits ${tried}. See that the secret is the one the deliveries are signed with.`]
    default:
      return solution satisfies never
  }
}

function describeNone({ name, status }: Endpoint, delivery: string | undefined): UpshotError {
  if (delivery !== undefined) {
    return new UpshotError('not_found', `Endpoint "${name}" has captured no delivery ${delivery}.`, {
      details: { fix: `See what it captured with "upshot deliveries list --endpoint ${name} --verdict learning".` },
    })
  }
  const fix =
    status === 'learning'
      ? 'Let the service send an event, then run this again.'
      : `Let it capture deliveries with "upshot endpoints edit ${name} --learn"; it takes none meanwhile.`
  return new UpshotError('not_found', `Endpoint "${name}" has captured no delivery yet.`, { details: { fix } })
}

function refuse(message: string): UpshotError {
  return new UpshotError('invalid_request', message, {
    details: { fix: 'Write a header a line, as in an HTTP request, or a JSON object.' },
  })
}
