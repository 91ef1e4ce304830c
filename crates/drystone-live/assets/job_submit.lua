-- Drystone's hook in slurmctld: while the daemon lives, jobs come in held and only the daemon lets them go; when it has been
-- silent for too long, jobs pass untouched and Slurm schedules them itself.
-- It runs under slurmctld's locks: it reads one short file and may append one line to another, and does nothing else. It never runs
-- a program. Any doubt lets the job pass.
local SETTINGS = { heartbeat = "/run/drystone/heartbeat", wake = "/run/drystone/wake", daemon = 0, silence = 60, partitions = {} }
local NO_VAL, RELEASE = 4294967294, 4294967295
local DENIED = 2002 -- ESLURM_ACCESS_DENIED
local MARK = "drystone:" -- at the head of a job's admin_comment

-- The daemon writes the present second, then its own name; 0 or no file: it is off.
local function drives()
  local file = io.open(SETTINGS.heartbeat, "r")
  if not file then return false end
  local beat = file:read("*n")
  file:close()
  if not beat then return false end
  local age = os.time() - beat
  return age <= SETTINGS.silence and age >= -SETTINGS.silence
end

-- The reader may be gone, and nothing may wait for it: a plain file, not a pipe.
local function wake(what)
  local file = io.open(SETTINGS.wake, "a")
  if file then file:write(what, "\n"); file:close() end
end

local function privileged(uid) return uid == 0 or uid == SETTINGS.daemon end

-- Whether the daemon drives a partition; without a list, every one. A job that names none goes to the default one.
local function ours(job, partitions)
  if next(SETTINGS.partitions) == nil then return true end
  local name = job.partition
  if name == nil or name == "" then
    for _, part in pairs(partitions or {}) do
      if part.flag_default == 1 then name = part.name end
    end
  end
  return name ~= nil and SETTINGS.partitions[name] == true
end

-- A job, or one task of an array, as the daemon knows it.
local function name(record)
  local task = record.array_task_id
  if task ~= nil and task ~= NO_VAL and record.array_job_id ~= nil and record.array_job_id ~= 0 then
    return record.array_job_id .. "_" .. task
  end
  return tostring(record.job_id)
end

function slurm_job_submit(job, partitions, uid)
  if not drives() or not ours(job, partitions) then return slurm.SUCCESS end
  local mark = "held"
  if job.priority == 0 then mark = "user" end -- submitted with --hold: the daemon leaves it held
  job.admin_comment = MARK .. mark
  job.priority = 0
  wake("submit")
  return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
  local function is_mark(comment, mark) return comment ~= nil and string.sub(comment, 1, #mark) == mark end
  local driven, marked, priority = drives(), is_mark(record.admin_comment, MARK), job.priority
  -- A hold of a job that bears the mark is reported also while the daemon is silent: a hand-back has to know it.
  if not driven and not marked then return slurm.SUCCESS end
  -- A job that was held here is known as such, whatever its comment says later.
  if driven and job.admin_comment ~= nil and is_mark(record.admin_comment, MARK .. "held") and not is_mark(job.admin_comment, MARK) then
    wake("overwritten " .. name(record))
  end
  if not marked and not ours(record, partitions) then return slurm.SUCCESS end
  if privileged(uid) then
    -- Slurm calls a hold of its own by the same reasons: only from here is it known that an operator holds a job. The daemon
    -- itself holds released jobs alone.
    if priority == 0 then wake((record.priority == 0 and "keep " or "rehold ") .. name(record)) end
    return slurm.SUCCESS
  end
  if priority == 0 then
    -- On a job that is held already nothing would change: the daemon learns of it here alone.
    wake("hold " .. name(record))
  elseif not driven then
    return slurm.SUCCESS
  elseif priority == RELEASE then
    -- Takes back the user's own hold, for the daemon. The job stays held until the daemon starts it, and the command succeeds.
    wake("release " .. name(record))
    job.priority = NO_VAL
  elseif priority ~= nil and priority ~= NO_VAL then
    return DENIED
  else
    wake("change " .. name(record))
  end
  -- In 22.05 a change of nice releases a held job.
  if driven and job.nice ~= nil and job.nice ~= NO_VAL then return DENIED end
  return slurm.SUCCESS
end

return slurm.SUCCESS
