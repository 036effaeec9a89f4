import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { roomEnvironment } from '../../../../app/play/room.ts'
import type { Framework } from './write-test.ts'

/** The end of a run of the test; `skipped`: its framework is not installed here. */
type TestEnd = { kind: 'passed' | 'skipped' } | { kind: 'failed'; output: string }

const WITHIN_MS = 120_000

/** Runs a test in a process of its own, without keys of the service, as `npm test` would. */
export function runTest(root: string, file: string, framework: Framework): Promise<TestEnd> {
  const args = framework === 'node' ? ['--test', '--test-reporter=dot', file] : vitestArgs(root, file)
  if (args === null) return Promise.resolve({ kind: 'skipped' })
  const { promise, resolve } = Promise.withResolvers<TestEnd>()
  const options = { cwd: root, env: { ...roomEnvironment(), NO_COLOR: '1' }, timeout: WITHIN_MS }
  execFile(process.execPath, args, options, (error, output, errors) => {
    resolve(error === null ? { kind: 'passed' } : { kind: 'failed', output: `${output}${errors}`.trim() })
  })
  return promise
}

function vitestArgs(root: string, file: string): string[] | null {
  try {
    const found = createRequire(join(root, 'package.json')).resolve('vitest/package.json')
    return [join(dirname(found), 'vitest.mjs'), 'run', file]
  } catch {
    return null
  }
}
