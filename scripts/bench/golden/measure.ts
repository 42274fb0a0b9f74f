/**
 * Measures statements by the clock of the server, whose every run is timed by itself: the median of many short runs, each
 * side in turn, is the same on a machine that has other work. Planning, where it happens, is part of a run; what calling
 * a statement from a loop costs is taken off.
 */
import type pg from 'pg'
import type { Statement } from '../../../src/core/sql/statement.ts'
import { median } from '../compare.ts'

const ROUNDS = 15
const RUNS = 20

/** Prepares what `measureRuns` needs in the session of `client`. */
export async function prepareMeasuring(client: pg.Client): Promise<void> {
  await client.query(
    `create function pg_temp.timed(statement text, runs int) returns float8[] language plpgsql as $f$
      declare begun timestamptz; taken float8[] := '{}'; answer text;
      begin
        for run in 1 .. runs loop
          begun := clock_timestamp();
          execute statement into answer;
          taken := taken || extract(epoch from clock_timestamp() - begun)::float8 * 1e6;
        end loop;
        return taken;
      end $f$`,
  )
}

/** The same for writes, each of several statements, of which nothing is left. */
export async function prepareMeasuringWrites(client: pg.Client): Promise<void> {
  await client.query(
    `create function pg_temp.timed_writes(statements text[], runs int) returns float8[] language plpgsql as $f$
      declare begun timestamptz; taken float8[] := '{}'; one float8; statement text;
      begin
        for run in 1 .. runs loop
          begin
            begun := clock_timestamp();
            foreach statement in array statements loop execute statement; end loop;
            one := extract(epoch from clock_timestamp() - begun)::float8 * 1e6;
            raise exception using errcode = 'PT001';
          exception when sqlstate 'PT001' then taken := taken || one;
          end;
        end loop;
        return taken;
      end $f$`,
  )
}

let prepared = 0

/** Prepares a statement and returns what runs it. */
export async function prepareStatement(client: pg.Client, { text, params }: Pick<Statement, 'text' | 'params'>) {
  prepared += 1
  const name = `golden_${prepared}`
  await client.query(`prepare ${name} as ${text}`)
  const values = params.map((value) => (value === null ? 'null' : `'${value.replaceAll("'", "''")}'`))
  return values.length === 0 ? `execute ${name}` : `execute ${name}(${values.join(', ')})`
}

/** Returns the median time of each statement in microseconds. */
export function measureRuns(client: pg.Client, executions: readonly string[]): Promise<readonly number[]> {
  return measureCalls(client, 'select pg_temp.timed($1, $2)', executions)
}

/** The same of writes, each a list of statements. */
export function measureWrites(client: pg.Client, writes: readonly (readonly string[])[]): Promise<readonly number[]> {
  return measureCalls(client, 'select pg_temp.timed_writes($1, $2)', writes)
}

async function measureCalls<Call extends string | readonly string[]>(
  client: pg.Client,
  text: string,
  calls: readonly Call[],
): Promise<readonly number[]> {
  const nothing = await prepareStatement(client, { text: `select ''::text`, params: [] })
  const idle = calls.every((call) => typeof call === 'string') ? nothing : [nothing]
  const sides = [idle, ...calls]
  const times: number[][] = sides.map(() => [])
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [side, call] of sides.entries()) {
      const { rows }: { rows: [number[]][] } = await client.query({ text, values: [call, RUNS], rowMode: 'array' })
      // The first round lets the server choose its plans.
      if (round > 0) times[side]?.push(...(rows[0]?.[0] ?? []))
    }
  }
  const [overhead = 0, ...medians] = times.map(median)
  return medians.map((time) => time - overhead)
}
