import type { Route } from '../incoming/route.ts'
import type { LoadedWorkflows, WorkflowRecord } from '../runs/workflow-record.ts'

export interface WorkflowWrites {
  /**
   * Makes the author's workflows, their routes and schedules known to every process, in one commit.
   * Those of a file that is broken now stay as they were: their events are kept for when it is
   * mended. Gives whether anything changed.
   */
  saveWorkflows(loaded: LoadedWorkflows, now: number): Promise<boolean>
  /**
   * From now on its runs wait; passes at work go on to their end. False when it was paused already.
   */
  pauseWorkflow(workflow: string, now: number): Promise<boolean>
  /**
   * Sets `limit` pending runs of a paused workflow aside; gives their number. Claiming does the
   * same with those it meets.
   */
  holdRuns(workflow: string, limit: number): Promise<number>
  /** Ends the pause. False when there was none. */
  resumeWorkflow(workflow: string): Promise<boolean>
  /**
   * Makes `limit` of the runs that waited for it pending again, oldest first; gives their number.
   */
  releaseHeldRuns(workflow: string, limit: number): Promise<number>
}

export interface WorkflowReads {
  /**
   * Event types and the workflows that they start; null while no process has loaded any. Cheap:
   * kept until somebody changes it.
   */
  listRoutes(): Promise<readonly Route[] | null>
  /** By id. */
  listWorkflows(): Promise<WorkflowRecord[]>
}
