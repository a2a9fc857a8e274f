#include "tesela/starpu/internal/tile_letters.hpp"

#include "tesela/base/error.hpp"
#include "tesela/starpu/internal/attachment.hpp"
#include "tesela/starpu/internal/execution.hpp"
#include "tesela/starpu/internal/tracing.hpp"

#include <atomic>
#include <limits>
#include <memory>
#include <vector>

namespace tesela::starpu {
namespace {

/// As both nodes count them before the message comes: a compressed tile has at most as many.
Index bytes_of(const TileRef& tile) { return static_cast<Index>(tile.matrix->message_bytes(tile.index)); }

/// What a letter remembers for errors and traces: its matrix may be gone when it ends.
class TileLetter : public Letter {
public:
    TileLetter(const TravellingTile& what, const Address& address)
        : Letter(address),
          owner_(what.stream),
          tag_(attachment_of(what.tile).tag(what.tile.index)),
          identity_(digest_of(static_cast<std::uint64_t>(tag_), what.stream.log.trail())),
          posted_(what.stream.shared.tracing() != nullptr ? trace::Collector::now() : 0),
          version_(attachment_of(what.tile).directory().version(what.tile.matrix->position(what.tile.index))),
          datum_(attachment_of(what.tile).datum(what.tile.index)),
          size_(what.tile.matrix->compressible(what.tile.index) ? Size::with_the_message : Size::known),
          written_in_round_(what.tile.matrix->written_in(what.tile.index) == what.stream.era()) {
        if (Tracing* trace = what.stream.shared.tracing()) trace->will_travel(what.tile);
    }

    [[nodiscard]] std::string describe() const override {
        return fmt::format("{}, version {}, of stream {}", owner_.names->tile(datum_), version_, owner_.options().name);
    }

    [[nodiscard]] std::uint64_t identity() const override { return identity_; }

protected:
    /// How large a compressed tile is its sender knows.
    enum class Size : std::uint8_t { known, with_the_message };
    [[nodiscard]] Size size() const { return size_; }
    /// What a message counts for: also where the stream has failed and nothing travels, so that nodes agree.
    [[nodiscard]] Index counted(Index bytes) const { return size_ == Size::known ? address().bytes : bytes; }

    void note_start() {
        if (owner_.shared.tracing() != nullptr) started_ = trace::Collector::now();
    }
    void note_end(Index bytes) const {
        Tracing* trace = owner_.shared.tracing();
        if (trace == nullptr || !trace->wants(trace::Module::comms)) return;
        trace->message_ended({.kind = outgoing() ? trace::RecordKind::send : trace::RecordKind::receive,
                              .tag = static_cast<std::uint64_t>(tag_),
                              .bytes = static_cast<std::uint64_t>(counted(bytes)),
                              .posted = posted_,
                              .started = started_,
                              .priority = address().priority,
                              .peer = static_cast<std::uint16_t>(address().peer)});
    }
    /// What a failed stream was to write has no value that counts; all else must arrive.
    [[nodiscard]] bool means_nothing_after_failure() const { return written_in_round_; }
    StarpuStream& owner_;

private:
    std::int64_t tag_;
    std::uint64_t identity_;  // with all that the stream has done before
    std::int64_t posted_;
    std::int64_t started_ = 0;
    std::uint32_t version_;
    std::uint64_t datum_;
    Size size_;
    bool written_in_round_;
};

/// The sends of one value from this node: it is held, by StarPU's leave, until the last has ended.
class TileSends {
public:
    TileSends(const TravellingTile& what, std::span<const std::int32_t> to)
        : handle_(attachment_of(what.tile).handle(what.tile.index)) {
        for (const std::int32_t node : to) letters_.push_back(std::make_unique<Sent>(*this, what, node));
        for (const auto& letter : letters_) {
            what.stream.progress.started();
            what.stream.mail->add(*letter, what.position);
        }
    }

    /// Deletes itself when the last has ended.
    void begin() {
        acquire(
            handle_, STARPU_R, [](void* sends) { static_cast<TileSends*>(sends)->next(); }, this);
    }

private:
    class Sent final : public TileLetter {
    public:
        Sent(TileSends& sends, const TravellingTile& what, std::int32_t to)
            : TileLetter(
                  what,
                  {.direction = Direction::out, .peer = to, .bytes = bytes_of(what.tile), .priority = what.priority}),
              sends_(sends) {}

        void start(net::Transport& transport) override {
            note_start();
            TileInterface& tile = in_main_memory(sends_.handle_);
            bool empty = means_nothing_after_failure() && tile.uncomputed_in == owner_.era();
            if (!empty && !give_memory(tile, Contents::zeros)) {  // none: what an earlier round did not write
                raise_failure(owner_, {Failure::out_of_memory, owner_.me.number()});
                empty = true;
            }
            transport.send(label(), empty ? net::Columns{} : tile.columns(), ends(), *this);
        }
        void ended(Index bytes) override {
            note_end(bytes);
            TileSends& sends = sends_;
            Progress& progress = owner_.progress;
            stream().ended(*this, counted(bytes));
            sends.next();
            progress.finished();
        }

    private:
        TileSends& sends_;
    };

    void next() {
        if (started_ < letters_.size()) {
            Sent& letter = *letters_[started_++];
            letter.stream().ready(letter);
            return;
        }
        starpu_data_release_on_node(handle_, STARPU_MAIN_RAM);
        delete this;
    }

    starpu_data_handle_t handle_;
    std::vector<std::unique_ptr<Sent>> letters_;
    std::size_t started_ = 0;
};

/// Deletes itself when the value has arrived and StarPU lets it be written.
class TileReceived final : public TileLetter {
public:
    TileReceived(const TravellingTile& what, std::int32_t from)
        : TileLetter(what, {.direction = Direction::in,
                            .peer = from,
                            .bytes = bytes_of(what.tile),
                            .memory = what.tile.matrix->compressible(what.tile.index) ? 0 : bytes_of(what.tile)}),
          handle_(attachment_of(what.tile).handle(what.tile.index)),
          home_(attachment_of(what.tile).home(what.tile.index)) {}

    void begin() {
        owner_.mail->ready(*this);
        acquire(
            handle_, STARPU_W, [](void* letter) { static_cast<TileReceived*>(letter)->one_of_two(); }, this);
    }

    bool take_memory(Claim claim) override {
        value_ = {owner_.shared.memory.take(static_cast<std::size_t>(address().bytes), claim),
                  static_cast<std::size_t>(address().bytes)};
        return value_.memory != nullptr;
    }
    void go_without_memory() override { raise_failure(owner_, {Failure::out_of_memory, owner_.me.number()}); }
    std::optional<void*> room(Index bytes) override {
        value_ = {owner_.shared.memory.take(static_cast<std::size_t>(bytes), Claim::needed),
                  static_cast<std::size_t>(bytes)};
        if (value_.memory == nullptr) go_without_memory();
        return value_.memory;
    }
    void start(net::Transport& transport) override {
        note_start();
        if (size() == Size::known) return transport.receive(label(), value_.memory, address().bytes, *this);
        transport.receive_any_size(label(), *this);
    }
    void ended(Index bytes) override {
        note_end(bytes);
        if (bytes == 0 || value_.memory == nullptr) {
            lost_ = bytes > 0 || !means_nothing_after_failure();
            if (value_.memory != nullptr) owner_.shared.memory.give(value_.memory, value_.bytes);
            value_ = {};
            owner_.failure.raise({Failure::elsewhere, std::numeric_limits<Index>::max()});
        }
        stream().ended(*this, counted(bytes));
        one_of_two();
    }

private:
    void one_of_two() {
        if (missing_.fetch_sub(1) > 1) return;
        if (value_.memory != nullptr) install(in_main_memory(handle_), value_, home_);
        if (lost_) in_main_memory(handle_).lost = true;
        in_main_memory(handle_).uncomputed_in = value_.memory != nullptr ? 0 : owner_.era();
        starpu_data_release_on_node(handle_, STARPU_MAIN_RAM);
        Progress& progress = owner_.progress;
        delete this;
        progress.finished();
    }

    starpu_data_handle_t handle_;
    Home home_;
    ArrivedValue value_{};
    bool lost_ = false;  // it came when there was no memory for it
    std::atomic<int> missing_{2};
};

}  // namespace

void send_tile(const TravellingTile& what, std::span<const std::int32_t> to) { (new TileSends(what, to))->begin(); }

void receive_tile(const TravellingTile& what, std::int32_t from) {
    what.stream.progress.started();
    auto* letter = new TileReceived(what, from);
    what.stream.mail->add(*letter, what.position);
    letter->begin();
}

}  // namespace tesela::starpu
