import { type Failure, findAuthorFrame } from '../core/errors.ts'

/** Faults of modules for which Node names no remedy. */
const REMEDIES: readonly [fault: RegExp, remedy: string][] = [
  [
    /^TypeScript .* is not supported in strip-only mode$/,
    'Node only removes types: write it as JavaScript, such as an object with "as const" in place of an enum',
  ],
  [/^Invalid or unexpected token$/, 'Node reads no decorators. For another cause, run "node" with this file'],
  [
    /^Cannot find package '[@~]\//,
    'Node does not read "paths" of tsconfig.json: import by a path such as "./events.ts"',
  ],
  [/^Cannot find package '/, 'Install it with npm'],
  [/^Cannot find module '(?:[^']*\/)?[^'./]+' /, 'An import names the whole file, such as "./events.ts"'],
  [/^Cannot find module '[^']*\.js' /, 'If the file ends in .ts, so does its import'],
  [/does not provide an export named/, 'A type needs the word "type": import { type RunContext }'],
  [/needs an import attribute of "type: json"$/, `Write behind its path: with { type: 'json' }`],
]

/** The same fault, with a remedy where Node names none. */
export function withRemedy(failure: Failure): Failure {
  const [, remedy] = REMEDIES.find(([fault]) => fault.test(failure.message)) ?? []
  return remedy === undefined ? failure : { ...failure, message: `${failure.message}. ${remedy}` }
}

/** The fault that kept a module of the author's from loading, with its place. */
export function describeLoadFault(failure: Failure): string {
  const place = findAuthorFrame(failure)
  return `${failure.name}: ${withRemedy(failure).message}${place === null ? '' : ` (at ${place})`}`
}
