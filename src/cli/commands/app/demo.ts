import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Output } from '../../terminal/output.ts'

/** `upshot demo`: fails when a promise did not hold. */
export function define(command: Command, out: Output): void {
  command.action(async () => {
    const { playDemo: runDemo } = await import('./demo/play-demo.ts')
    const story: string[] = []
    const failed = await runDemo((line) => {
      story.push(line)
      out.tell(line)
    })
    if (failed !== 0) {
      throw new UpshotError('internal', 'The demo did not end as it should.', {
        details: { fix: 'See which promise is marked with ✗, and run it again.' },
      })
    }
    out.result({ story }, () => [])
  })
}
