export type Framework = 'vitest' | 'node'

/** The parts of a test that differ from run to run. */
interface Written {
  run: string
  /** Hash of the code that made the run, and of the code that was played. */
  hashes: { made: string | null; played: string }
  workflow: string
  /** Path of the workflow's module, from the test. */
  module: string
  /** File name of the answers. */
  answers: string
}

/** The code of a test. */
export function writeTest(framework: Framework, { run, workflow, hashes, ...more }: Written): string {
  const { module, answers } = more
  const isVitest = framework === 'vitest'
  return [
    ...(isVitest
      ? [`import { playRecorded } from 'upshot/testing'`, `import { expect, test } from 'vitest'`]
      : [
          `import assert from 'node:assert/strict'`,
          `import { test } from 'node:test'`,
          `import { playRecorded } from 'upshot/testing'`,
        ]),
    `import workflow from '${module}'`,
    '',
    `// Written by "upshot runs test ${run}"${describeCode(hashes)}.`,
    `test('${workflow} does what ${run} did', async () => {`,
    `  const { did, does } = await playRecorded(workflow, new URL('./${answers}', import.meta.url))`,
    isVitest ? '  expect(does).toEqual(did)' : '  assert.deepEqual(does, did)',
    '})',
    '',
  ].join('\n')
}

function describeCode({ made, played }: Written['hashes']): string {
  if (made === null || made === played) return `, with code ${played}`
  return `, with code ${played}; the run was made by code ${made}`
}
