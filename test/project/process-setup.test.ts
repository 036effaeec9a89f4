import { expect, test } from 'vitest'
import { describeOldNode } from '../../src/project/process-setup.ts'

test('an old Node is told in one line, with the version that is needed and how to get it', () => {
  for (const version of ['18.20.8', '20.20.2', '22.12.0', '23.11.1']) {
    const told = describeOldNode(version) ?? ''
    expect(told).toContain(`upshot needs Node 24 or newer, and this is ${version}`)
    expect(told).not.toContain('\n')
  }
  for (const version of ['24.0.0', '26.1.0']) expect(describeOldNode(version)).toBeNull()
})
