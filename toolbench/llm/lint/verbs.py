"""The verbs that a tool's name can have to say what the tool does."""

_WORDS = """
abort accept access achieve ack acknowledge acquire activate adapt add adjust
aggregate align allocate allow alter amend analyse analyze annotate answer append
apply approve archive are arrange ask assemble assert assess assign assist associate
assume attach attempt audit authenticate authorize autocomplete await backfill backup
ban batch beautify begin bind block book bookmark boot branch broadcast browse build
bundle buy bypass cache calc calculate calibrate call can cancel capture cast catch
categorize change charge chat check checkout choose clamp classify clean cleanup clear
click clip clone close cluster collapse collate collect color combine commit compact
compare compile complete compose compress compute concat concatenate conclude condense
configure confirm connect consolidate construct consult consume contact contain
continue convert copy correct correlate count crawl create crop cross customize cut
debug decode decompose decompress decrease decrypt dedupe deduplicate define del delay
delegate delete deliver demote deploy deprecate derive describe deselect design
destroy detach detect determine diagnose diff dig disable disassociate disconnect
discover dismiss dispatch display distribute divide do dock download draft drag draw
drop dump duplicate edit elect eliminate email emit emulate enable encode encrypt end
enforce enhance enqueue enrich ensure enter enumerate erase escalate establish
estimate eval evaluate examine exchange execute exists exit expand expect expire
explain explore export expose extend extract fail fetch fill filter finalize find
finish fire fit fix flag flatten flip flush focus follow force forecast forget fork
format forward freeze fuse gather generate geocode get give glob go grab grant graph
grep group guess halt handle has hash hide highlight hit hold hover identify ignore
import improve include increase increment index infer inflate ingest inherit init
initialise initialize inject insert inspect install instantiate instruct integrate
interact interpolate interpret interrupt intersect introspect invalidate invert invest
investigate invite invoke is isolate issue iterate join judge jump keep kill label
launch lay lead learn leave lend level lift like limit link lint list listen load
locate lock log login logout look lookup loop make manage map mark mask match measure
merge migrate minify minimize mint mirror mix mock modify monitor mount move multiply
mute name navigate negate negotiate nest normalise normalize notify observe obtain ocr
offset open operate optimise optimize orchestrate order organize outline output
overlay override overwrite pack package paginate paint pan park parse partition pass
paste patch pause pay peek perform persist pick pin ping pipe place plan play plot
point poll pop populate post predict prefetch prepare press prettify prevent preview
print prioritize probe process produce profile promote prompt propose protect provide
provision proxy prune publish pull purchase purge push put qualify query queue quit
quote raise random randomize rank rate read rebase reboot rebuild recall receive
recognize recommend recompute reconcile reconnect record recover recreate redact
redirect redo reduce refactor reference refine reflect reformat refresh refund refuse
regenerate register reindex reject relate release reload rem remember remind remove
rename render renew reopen reorder repair repeat replace replay reply report
reposition repost represent reprocess request require rerank reroute rerun research
reserve reset resize resolve respond restart restore restrict resubmit resume retire
retrieve retry return reveal reverse revert review revise revoke rewind rewrite rm
roll rollback rotate round route run sample sanitize save scale scan schedule score
scrape screenshot scroll search secure seed seek segment select sell send separate
serialize serve set setup shade share shift show shuffle shut shutdown sign simulate
skip sleep slice smooth snapshot snooze solve sort spawn specify split stage
standardize star start stash stop store stream stretch strip structure study submit
subscribe substitute subtract suggest sum summarise summarize supply support suppress
suspend swap switch sync synchronize synthesize tag tail take tap target teach tell
terminate test think thread throttle tile toggle trace track trade train transcribe
transfer transform transition translate transmit transpose traverse triage trigger
trim truncate try tune turn type unarchive unassign unban unblock uncheck undelete
undeploy undo unfollow unfreeze unhide uninstall unlike unlink unload unlock unmark
unmount unmute unpack unpin unpublish unregister unresolve unset unshare unsnooze
unstar unsubscribe untag unwatch unwrap update upgrade upload upscale upsert use
validate vectorize verify view visit visualise visualize void vote wait wake walk warm
warn watch weigh whois wipe withdraw wrap write yield zip zoom
"""

VERBS = frozenset(_WORDS.split())
