import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'

/** `upshot demo`: runs the demo; fails if a promise was broken. */
export function define(command: Command, { out }: Cli): void {
  command.action(async () => {
    const { runDemo } = await import('./demo/run-demo.ts')
    const story: string[] = []
    const failed = await runDemo((line) => {
      story.push(line)
      out.tell(line)
    })
    if (failed !== 0) {
      throw new UpshotError('internal', 'The demo failed: at least one promise was broken.', {
        fix: 'See the lines marked with ✗ above, and run the demo again.',
      })
    }
    out.result({ story }, () => [])
  })
}
