import type { Route } from '../incoming/route.ts'
import type { LoadedWorkflows, SavedWorkflows, WorkflowRecord } from '../runs/workflow-record.ts'

export interface WorkflowWrites {
  /**
   * Saves workflows, routes and schedules in one commit. The rows of broken modules and of other
   * workers at work stay, so that their events are kept.
   */
  saveWorkflows(loaded: LoadedWorkflows, now: number): Promise<SavedWorkflows>
  /**
   * Removes a workflow that no worker at work has. Throws `not_found`, and `conflict` while one has
   * it.
   */
  removeWorkflow(workflow: string, now: number): Promise<void>
  /**
   * Runs claimed from now on are held; passes under way continue. False when it was paused already.
   */
  pauseWorkflow(workflow: string, now: number): Promise<boolean>
  /**
   * Holds up to `limit` pending runs of a paused workflow; returns how many. Claims hold the others
   * as they meet them.
   */
  holdRuns(workflow: string, limit: number): Promise<number>
  /** Ends the pause. False when there was none. */
  resumeWorkflow(workflow: string): Promise<boolean>
  /** Makes up to `limit` held runs pending again, oldest first; returns how many. */
  releaseHeldRuns(workflow: string, limit: number): Promise<number>
}

export interface WorkflowReads {
  /**
   * Event types and the workflows that they start; null until a process has loaded workflows.
   * Cached until they change.
   */
  listRoutes(): Promise<readonly Route[] | null>
  /** By id. */
  listWorkflows(): Promise<WorkflowRecord[]>
}
