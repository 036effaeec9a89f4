import { expect, test } from 'vitest'
import { localName } from '../../../src/files/index.ts'

test.each([
  ['report.pdf', 'report.pdf'],
  ['../../etc/passwd', '___.._etc_passwd'],
  ['..', '__'],
  ['.hidden', '_hidden'],
  ['a\\b:c*', 'a_b_c_'],
  ['', '_'],
  ['end. ', 'end__'],
  ['ä'.repeat(300), 'ä'.repeat(100)],
])('localName(%j) is %j', (name, local) => {
  expect(localName(name)).toBe(local)
})
