import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Names the tests that failed at first and passed at another try, with what they failed with. Also
 * appends them to the file `SECOND_TRIES`, which the end of a log can show again.
 */
export class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap(({ children }) => [...children.allTests()])
    const text = describeSecondTries(tests.filter((test) => test.diagnostic()?.flaky))
    if (text === '') return
    process.stdout.write(`\n${text}\n`)
    const { SECOND_TRIES: file } = process.env
    if (file !== undefined) appendFileSync(file, text)
  }
}

function describeSecondTries(tests: readonly TestCase[]): string {
  if (tests.length === 0) return ''
  const named = tests.map((test) => {
    const errors = test.result().errors ?? []
    const place = `${relative(process.cwd(), test.module.moduleId)} > ${test.fullName}`
    return [place, ...errors.map(({ message, stack }) => `  ${message}\n${stack ?? ''}`)].join('\n')
  })
  const what = tests.length === 1 ? 'A TEST' : `${tests.length} TESTS`
  return `${what} FAILED AND PASSED AT THE NEXT TRY. Each is a bug to find: see CONTRIBUTING.md.\n${named.join('\n')}\n`
}
