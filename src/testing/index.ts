/** The door for tests of workflows. Works with any test framework. */

export type { PreviewedRun, TestedEffect, TestedRun } from '../engine/preview/compare/compare-tested.ts'
export { type CrashOptions, type CrashReport, crashEverywhere } from './crash-everywhere.ts'
export type { StepReplacements } from './engine/replaced-steps.ts'
export type { TestbedOptions } from './options.ts'
export type { DecideOptions, TestApproval } from './people.ts'
export { replayRecorded } from './replay-recorded.ts'
export type { Sent, TestEffect, TestLog, TestRun, TestStep } from './run-book.ts'
export type { ForkOptions, OfAccount } from './run-control.ts'
export { type Testbed, testbed } from './testbed.ts'
export type { DeliverOptions, TestDelivery } from './world/front-door.ts'
export type { TestSchedule } from './world/test-schedules.ts'
export type { TestStorage } from './world/test-service.ts'
